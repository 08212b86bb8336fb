import { isObject } from './state/normalize-blocks.ts';
import type { Block, JsonObject } from './state/types.ts';

/**
 * Lists faults of real workspaces, to be switched on: the app is no agent there; it has no paid plan; streams are refused; tables
 * come back as text; addresses come back with entities; each call of a stream begins a block; metadata is lost.
 */
export type Shortcoming =
  | 'no-agent'
  | 'free-plan'
  | 'no-streams'
  | 'tables-as-text'
  | 'entities-kept'
  | 'streams-in-pieces'
  | 'metadata-lost';

const REFUSED: readonly { since: Shortcoming; methods: RegExp; error: string }[] = [
  { since: 'no-agent', methods: /^(?:agents\.sessions|assistant\.threads)\./, error: 'not_authorized' },
  { since: 'free-plan', methods: /^(?:agents\.sessions|usergroups)\./, error: 'paid_teams_only' },
  { since: 'no-streams', methods: /^chat\.(?:start|append|stop)Stream$/, error: 'feature_not_enabled' },
];

/** The error with which a method is refused; none if it is not. */
export function refusedBy(shortcomings: ReadonlySet<Shortcoming>, method: string): string | undefined {
  return REFUSED.find(({ since, methods }) => shortcomings.has(since) && methods.test(method))?.error;
}

/** The blocks of a message as such a workspace returns them. */
export function blocksAsKept(shortcomings: ReadonlySet<Shortcoming>, blocks: readonly Block[]): Block[] {
  const kept = structuredClone([...blocks]);
  const tables = shortcomings.has('tables-as-text') ? kept.map(tableAsText) : kept;
  return shortcomings.has('entities-kept')
    ? tables.map((block) => ({ ...block, ...withEntities(block) }))
    : tables;
}

function tableAsText(block: Block): Block {
  if (block.type !== 'table' || !Array.isArray(block.rows)) return block;
  const lines = block.rows.map((row) => (Array.isArray(row) ? row.map(textIn).join(' | ') : ''));
  const elements = [{ type: 'rich_text_section', elements: [{ type: 'text', text: lines.join('\n') }] }];
  return { type: 'rich_text', block_id: block.block_id, elements };
}

function textIn(value: unknown): string {
  if (Array.isArray(value)) return value.map(textIn).join('');
  if (!isObject(value)) return '';
  return typeof value.text === 'string' ? value.text : Object.values(value).map(textIn).join('');
}

/** Writes the ampersands of addresses as entities. */
function withEntities(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, changed(inner)]));
}

function changed(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(/https?:\/\/\S+/g, (address) => address.replaceAll('&', '&amp;'));
  if (Array.isArray(value)) return value.map(changed);
  return isObject(value) ? withEntities(value) : value;
}
