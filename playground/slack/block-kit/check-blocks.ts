import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { block, MESSAGE_ONLY } from './blocks.ts';

/** A problem that Slack refuses: a JSON pointer and the reason in Slack's wording. */
export interface Problem {
  pointer: string;
  reason: string;
}

/** Surfaces that show blocks; each has its own block limit and excluded types. */
export type Surface = 'message' | 'modal' | 'home';

const blocksFor = (surface: Surface) =>
  z.array(block).max(surface === 'message' ? LIMITS.messageBlocks : LIMITS.viewBlocks);
const schemas = { message: blocksFor('message'), modal: blocksFor('modal'), home: blocksFor('home') };

/** Lists all problems of these blocks on this surface; an empty list means that Slack accepts them. */
export function checkBlocks(blocks: unknown, surface: Surface = 'message', at = '/blocks'): Problem[] {
  const parsed = schemas[surface].safeParse(blocks);
  if (!parsed.success) return parsed.error.issues.flatMap((issue) => describeIssue(issue, at));
  return [
    ...checkUniqueIds(parsed.data, at),
    ...checkSurface(parsed.data, surface, at),
    ...checkMarkdownTotal(parsed.data, at),
    ...checkTables(parsed.data, at),
    ...checkFocus(parsed.data, at),
  ];
}

/** Counts the characters of all texts in these blocks; Slack limits the total of a message. */
export function countCharacters(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countCharacters(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, inner]) =>
      sum + (key === 'text' && typeof inner === 'string' ? inner.length : countCharacters(inner)),
    0,
  );
}

/** Describes a zod issue with Slack's wording and pointer. */
export function describeIssue(issue: z.core.$ZodIssue, at: string): Problem[] {
  const pointer = [at, ...issue.path.map(String)].join('/');
  const parent = [at, ...issue.path.slice(0, -1).map(String)].join('/');
  switch (issue.code) {
    case 'too_big':
      return [
        {
          pointer,
          reason: boundary(
            issue.origin,
            `less than ${Number(issue.maximum) + 1}`,
            `more than ${issue.maximum}`,
          ),
        },
      ];
    case 'too_small':
      return [
        {
          pointer,
          reason: boundary(
            issue.origin,
            `more than ${Number(issue.minimum) - 1}`,
            `less than ${issue.minimum}`,
          ),
        },
      ];
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ pointer, reason: `invalid additional property: ${key}` }));
    case 'invalid_union':
      return [{ pointer: issue.path.at(-1) === 'type' ? parent : pointer, reason: 'unsupported type' }];
    case 'invalid_type':
      return issue.input === undefined && issue.path.length > 0 && issue.message.includes('undefined')
        ? [{ pointer: parent, reason: `missing required field: ${String(issue.path.at(-1))}` }]
        : [{ pointer, reason: `must provide a value of type ${issue.expected}` }];
    case 'custom':
      return [{ pointer, reason: issue.message }];
    default:
      return [{ pointer, reason: 'invalid value' }];
  }
}

function boundary(origin: string, characters: string, items: string): string {
  if (origin === 'string') return `must be ${characters} characters`;
  if (origin === 'array') return `no ${items} items allowed`;
  return `must be ${characters}`;
}

function checkUniqueIds(
  blocks: readonly z.infer<typeof block>[],
  at: string,
  seen = new Set<string>(),
): Problem[] {
  const problems: Problem[] = [];
  for (const [index, each] of blocks.entries()) {
    if (each.block_id !== undefined) {
      if (seen.has(each.block_id)) {
        problems.push({
          pointer: `${at}/${index}/block_id`,
          reason: `\`block_id\` ${each.block_id} already exists`,
        });
      }
      seen.add(each.block_id);
    }
    if ('child_blocks' in each)
      problems.push(...checkUniqueIds(each.child_blocks, `${at}/${index}/child_blocks`, seen));
    const actionIds = new Set<string>();
    const elements = 'elements' in each ? each.elements : [];
    for (const [position, element] of elements.entries()) {
      if (!('action_id' in element) || element.action_id === undefined) continue;
      if (actionIds.has(element.action_id)) {
        const pointer = `${at}/${index}/elements/${position}/action_id`;
        problems.push({ pointer, reason: `\`action_id\` ${element.action_id} already exists` });
      }
      actionIds.add(element.action_id);
    }
  }
  return problems;
}

function checkSurface(blocks: readonly z.infer<typeof block>[], surface: Surface, at: string): Problem[] {
  return blocks.flatMap((each, index) => {
    if (surface !== 'message' && MESSAGE_ONLY.includes(each.type)) {
      return [{ pointer: `${at}/${index}`, reason: `unsupported type: ${each.type}` }];
    }
    if (surface !== 'modal' && each.type === 'input' && each.element.type === 'file_input') {
      return [{ pointer: `${at}/${index}/element`, reason: 'unsupported type: file_input' }];
    }
    return [];
  });
}

function checkMarkdownTotal(blocks: readonly z.infer<typeof block>[], at: string): Problem[] {
  const total = blocks.reduce((sum, each) => sum + (each.type === 'markdown' ? each.text.length : 0), 0);
  return total > LIMITS.markdown
    ? [
        {
          pointer: at,
          reason: `markdown blocks must be less than ${LIMITS.markdown + 1} characters in total`,
        },
      ]
    : [];
}

/** Limits the characters of all cells of all tables together. */
function checkTables(blocks: readonly z.infer<typeof block>[], at: string): Problem[] {
  const total = blocks.reduce(
    (sum, each) => sum + (each.type === 'table' || each.type === 'data_table' ? countCharacters(each) : 0),
    0,
  );
  return total > LIMITS.tableCharacters
    ? [
        {
          pointer: at,
          reason: `table cells must be less than ${LIMITS.tableCharacters + 1} characters in total`,
        },
      ]
    : [];
}

/** Lets one element of a surface take the focus. */
function checkFocus(blocks: readonly z.infer<typeof block>[], at: string): Problem[] {
  const focused = blocks.flatMap((each) => {
    const elements = each.type === 'input' ? [each.element] : each.type === 'actions' ? each.elements : [];
    return elements.filter((element) => 'focus_on_load' in element && element.focus_on_load === true);
  });
  return focused.length > 1 ? [{ pointer: at, reason: 'only one element may have focus_on_load' }] : [];
}
