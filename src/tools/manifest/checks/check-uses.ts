import type { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue, pointerTo } from '../../../agent/json.ts';
import type { Tool } from '../../../agent/tool.ts';
import { DEFAULT_POLICY_NAME } from '../../../policy/policy.ts';
import { matchesGlob } from '../../../policy/rules.ts';
import { parseDisplayTemplate, unknownInputs } from '../../presentation/text-template.ts';
import { didYouMean, type Finding } from '../problem.ts';
import { BUILT_IN_NAMES } from '../schema/agent.ts';
import { LimitFile, PolicyFile, RuleFile } from '../schema/policies.ts';
import { toApprovers } from '../to-manifest.ts';
import { AMOUNT, EMAIL, PEOPLE, shortageOf } from './check-policies.ts';
import {
  conditionFindings,
  isOpen,
  listRules,
  needsDefault,
  type RuleFindings,
  unknownInputNames,
} from './check-rules.ts';
import { readableParts } from './check-shape.ts';
import { checkSet } from './check-texts.ts';
import { schemaType, typeInWords, wrongComparisons, wrongResult } from './condition-values.ts';

/** A tool as far as it is known without its server: its name, and the schema of its input if that is known too. */
export interface KnownTool {
  readonly name: string;
  readonly schema: JsonObject | undefined;
  /** The schema of its answer, if it is known. */
  readonly output?: JsonObject | undefined;
}

/** Describes a tool as far as it is checked. */
export function knownTool({
  name,
  inputSchema,
  outputSchema,
}: Pick<Tool, 'name' | 'inputSchema' | 'outputSchema'>): KnownTool {
  return { name, schema: inputSchema.jsonSchema, output: outputSchema?.jsonSchema };
}

/** The tools that each entry of the manifest brings; an entry that is not there may bring any. */
export type ToolsByEntry = ReadonlyMap<string, readonly KnownTool[]>;

const PolicyParts = PolicyFile.partial();
const LimitParts = LimitFile.partial();
const NO_INPUT: JsonObject = { type: 'object', properties: {} };

/** Returns the tools that the manifest alone tells. */
export function writtenTools({ tools }: JsonObject): ToolsByEntry {
  return new Map(
    entriesOf(tools)
      .filter(([, tool]) => isHttp(tool))
      .map(([name, tool]) => {
        const schema = isJsonObject(tool) ? (tool.input ?? NO_INPUT) : undefined;
        return [name, [{ name, schema: isJsonObject(schema) ? schema : undefined }]];
      }),
  );
}

/**
 * Checks everything that names a tool or an argument of one: limits, the tools of channels, previews, undos, cards, and the expressions of
 * rules, limits and policies. What a tool that is not known may have is no mistake.
 */
export function checkUses(manifest: JsonObject, byEntry: ToolsByEntry): RuleFindings {
  const isComplete =
    isJsonObject(manifest.tools) && entriesOf(manifest.tools).every(([entry]) => byEntry.has(entry));
  const uses = policyUses(manifest);
  return {
    findings: [
      ...(isComplete ? checkNames(manifest, byEntry) : []),
      ...entriesOf(manifest.tools).flatMap(([entry, tool]) =>
        isJsonObject(tool) ? checkEntry(pointerTo('/tools', entry), tool, byEntry.get(entry), byEntry) : [],
      ),
      ...checkLimits(manifest.limits, byEntry, isComplete),
      ...checkPolicies(manifest, uses, byEntry),
      ...checkOwners(manifest, uses),
    ],
    warnings: unusedPolicies(manifest, uses),
  };
}

/** Finds the names and patterns of tools that match none. */
function checkNames(
  { agent, limits, policies, tools, callers, freezes }: JsonObject,
  byEntry: ToolsByEntry,
): Finding[] {
  const names = [...byEntry.values()].flat().map(({ name }) => name);
  const channels = isJsonObject(agent) ? entriesOf(agent.channels) : [];
  return [
    ...(Array.isArray(freezes) ? freezes : []).flatMap((freeze: JsonValue, index) =>
      [
        ...listIn(freeze, 'tools').map((match, at) => [`tools/${at}`, match] as const),
        [
          'while/tool',
          isJsonObject(freeze) && isJsonObject(freeze.while) ? freeze.while.tool : undefined,
        ] as const,
      ].flatMap(([at, match]) =>
        checkName({ pointer: `/freezes/${index}/${at}`, at: 'value' }, match, names),
      ),
    ),
    ...entriesOf(policies).flatMap(([name, written]) => {
      const { approvers } = readableParts(PolicyParts, written);
      const { groups } = approvers === undefined ? { groups: [] } : toApprovers({ approvers });
      return groups.flatMap(({ from, pointer: at }) => {
        const pointer = `${pointerTo('/policies', name)}${at.replace(/any$/, 'from')}/tool`;
        return typeof from === 'object' ? checkName({ pointer, at: 'value' }, from.tool, names) : [];
      });
    }),
    ...entriesOf(callers).flatMap(([caller, settings]) =>
      listIn(settings, 'tools').flatMap((match, index) => {
        const pointer = pointerTo(`${pointerTo('/callers', caller)}/tools`, index);
        return checkName({ pointer, at: 'value' }, match, names);
      }),
    ),
    ...entriesOf(limits).flatMap(([name, limit]) => {
      const pointer = pointerTo('/limits', name);
      const { tools: match } = readableParts(LimitParts, limit);
      return match === undefined
        ? checkName({ pointer, at: 'key' }, name, names)
        : checkName({ pointer: `${pointer}/tools`, at: 'value' }, match, names);
    }),
    ...channels.flatMap(([channel, settings]) =>
      listIn(settings, 'tools').flatMap((match, index) => {
        const pointer = pointerTo(`${pointerTo('/agent/channels', channel)}/tools`, index);
        return checkName({ pointer, at: 'value' }, match, [...names, ...BUILT_IN_NAMES]);
      }),
    ),
    ...entriesOf(tools).flatMap(([entry, tool]) => {
      const pointer = pointerTo('/tools', entry);
      const own = byEntry.get(entry)?.map(({ name }) => name) ?? [];
      return [
        ...checkUsedNames(pointer, tool, names),
        ...listIn(tool, 'cards').flatMap((card, index) => {
          const at = pointerTo(`${pointer}/cards`, index);
          // The texts of an HTTP tool are checked with its own name.
          const match = isJsonObject(card) && !isHttp(tool) ? card.match : undefined;
          return [
            ...checkName({ pointer: `${at}/match`, at: 'value' }, match, own),
            ...checkUsedNames(at, card, names),
          ];
        }),
      ];
    }),
  ];
}

/** Checks the names of the tools that a preview and an undo use. */
function checkUsedNames(pointer: string, written: JsonValue, names: readonly string[]): Finding[] {
  return ['preview', 'undo'].flatMap((key) => {
    const use = isJsonObject(written) ? written[key] : undefined;
    const tool = isJsonObject(use) ? use.tool : undefined;
    return checkName({ pointer: `${pointer}/${key}/tool`, at: 'value' }, tool, names);
  });
}

function checkName(
  place: Pick<Finding, 'pointer' | 'at'>,
  match: JsonValue | undefined,
  names: readonly string[],
): Finding[] {
  if (typeof match !== 'string' || names.some((name) => matchesGlob(match, name))) return [];
  return [{ ...place, message: `there is no tool "${match}"${didYouMean(match, names)}` }];
}

/** Checks the rules, texts, previews and undos of one entry against its tools. */
function checkEntry(
  pointer: string,
  tool: JsonObject,
  own: readonly KnownTool[] | undefined,
  byEntry: ToolsByEntry,
): Finding[] {
  const sets = [
    { at: pointer, match: '*', written: tool },
    ...listIn(tool, 'cards').flatMap((card, index) =>
      isJsonObject(card) && typeof card.match === 'string'
        ? [{ at: pointerTo(`${pointer}/cards`, index), match: card.match, written: card }]
        : [],
    ),
  ];
  return [
    // The rules and texts of an HTTP tool were checked with it.
    ...(own === undefined || isHttp(tool) ? [] : checkEntryRules(pointer, tool, own)),
    ...(own === undefined ? [] : checkServerLists(`${pointer}/mcp`, tool.mcp, own)),
    ...sets.flatMap(({ at, match, written }) => {
      const schema = onlySchema(own?.filter(({ name }) => matchesGlob(match, name)));
      return [
        ...(schema === undefined || isHttp(tool) ? [] : checkSet(at, written, schema)),
        ...['preview', 'undo'].flatMap((key) =>
          checkUsedInput(`${at}/${key}`, written[key], schema, byEntry),
        ),
        ...checkUsedOutput(`${at}/preview`, written.preview, byEntry),
      ];
    }),
  ];
}

function onlySchema(tools: readonly KnownTool[] = []): JsonObject | undefined {
  return tools.length === 1 ? tools[0]?.schema : undefined;
}

function checkEntryRules(pointer: string, tool: JsonObject, own: readonly KnownTool[]): Finding[] {
  return listRules(`${pointer}/approval`, tool.approval).flatMap(({ pointer: at, value }) => {
    const { match = '*', when } = readableParts(RuleFile, value);
    const matched = own.filter(({ name }) => matchesGlob(match, name));
    if (matched.length === 0) {
      const names = own.map(({ name }) => name);
      const message = `this rule is never used: "${match}" matches none of ${names.join(', ')}`;
      return [{ pointer: `${at}/match`, at: 'value', message }];
    }
    return inAllOf(matched, (schema) => conditionFindings(`${at}/when`, when, schema));
  });
}

/** Checks the tools whose answers are free or whose errors are final: a name that is none of the server's would say nothing. */
function checkServerLists(
  pointer: string,
  server: JsonValue | undefined,
  own: readonly KnownTool[],
): Finding[] {
  const names = own.map(({ name }) => name);
  const lists = [
    ['answers', 'free'],
    ['errors', 'final'],
  ] as const;
  return lists.flatMap(([setting, list]) =>
    listIn(isJsonObject(server) ? (server[setting] ?? null) : null, list).flatMap((match, index) =>
      checkName({ pointer: pointerTo(`${pointer}/${setting}/${list}`, index), at: 'value' }, match, names),
    ),
  );
}

/** Returns the findings of the first tool if every tool has some: what one of several tools takes is no mistake. */
function inAllOf(tools: readonly KnownTool[], check: (schema: JsonObject) => Finding[]): Finding[] {
  const found = tools.map(({ schema }) => (schema === undefined ? [] : check(schema)));
  return found.every((findings) => findings.length > 0) ? (found[0] ?? []) : [];
}

/** Finds paths of a preview that the answer of its tool does not have, as far as its schema is known. */
function checkUsedOutput(pointer: string, preview: JsonValue | undefined, byEntry: ToolsByEntry): Finding[] {
  if (!isJsonObject(preview)) return [];
  const { tool } = preview;
  const output = [...byEntry.values()].flat().find(({ name }) => name === tool)?.output;
  if (output === undefined) return [];
  return ['before', 'after'].flatMap((key) => {
    const text = preview[key];
    if (typeof text !== 'string') return [];
    return unknownInputs(parseDisplayTemplate(text).template, output, 'output').map(
      ({ offset, unknown: { written = '', known = [] } = {} }): Finding => ({
        pointer: `${pointer}/${key}`,
        at: 'value',
        inside: offset,
        message: `the answer of "${String(tool)}" has no "${written}"${didYouMean(written, known) || `; it has ${known.join(', ')}`}`,
      }),
    );
  });
}

/** Checks the input of a preview or an undo against the schema of the tool that it calls. */
function checkUsedInput(
  pointer: string,
  use: JsonValue | undefined,
  schema: JsonObject | undefined,
  byEntry: ToolsByEntry,
): Finding[] {
  if (!isJsonObject(use) || typeof use.tool !== 'string') return [];
  const { tool } = use;
  const target = [...byEntry.values()].flat().find(({ name }) => name === tool)?.schema;
  if (target === undefined) return [];
  const input = isJsonObject(use.input) ? use.input : {};
  const properties = isJsonObject(target.properties) ? target.properties : {};
  const known = Object.keys(properties);
  const needed = Array.isArray(target.required) ? target.required.map(String) : [];
  return [
    ...Object.entries(input).flatMap(([key, value]): Finding[] => {
      const at = pointerTo(`${pointer}/input`, key);
      if (!known.includes(key)) {
        if (isOpen(target)) return [];
        const message = `"${tool}" has no input "${key}"${didYouMean(key, known)}`;
        return [{ pointer: at, at: 'key', message }];
      }
      const given = givenType(value, schema);
      const wanted = schemaType(properties[key]);
      if (wanted === undefined || given === undefined || given.type === wanted) return [];
      const message = `"${key}" of "${tool}" is ${typeInWords(wanted)}, but ${given.name} is ${typeInWords(given.type)}`;
      return [{ pointer: at, at: 'value', message, ...(given.isTemplate && { inside: 0 }) }];
    }),
    ...needed
      .filter((key) => input[key] === undefined)
      .map((key): Finding => ({ pointer, at: 'key', message: `"${tool}" needs the input "${key}"` })),
  ];
}

/** Returns the type of an input as it is written, or of the argument that takes its place. */
function givenType(value: JsonValue, schema: JsonObject | undefined) {
  if (typeof value === 'number') return { type: 'number', name: 'this' } as const;
  if (typeof value === 'boolean') return { type: 'boolean', name: 'this' } as const;
  if (typeof value !== 'string') return undefined;
  const { template } = parseDisplayTemplate(value);
  if (template.every((part) => typeof part === 'string')) return { type: 'text', name: 'this' } as const;
  const [part] = template;
  // A value among other words becomes a part of a text.
  if (template.length > 1 || typeof part !== 'object') return { type: 'text', name: 'this' } as const;
  if (part.root !== 'input') return undefined;
  const { properties } = schema ?? {};
  const [name = ''] = part.path;
  const type = part.path.length === 1 && isJsonObject(properties) ? schemaType(properties[name]) : undefined;
  return type && { type, name: `input.${name}`, isTemplate: true };
}

/** Checks the amounts of limits against the tools that they count. */
function checkLimits(limits: JsonValue | undefined, byEntry: ToolsByEntry, isComplete: boolean): Finding[] {
  return entriesOf(limits).flatMap(([name, limit]) => {
    const { tools: match = name, sum, when } = readableParts(LimitParts, limit);
    const counted = [...byEntry.values()].flat().filter((tool) => matchesGlob(match, tool.name));
    if (counted.length === 0 || (!isComplete && /[*?]/.test(match))) return [];
    const at = pointerTo('/limits', name);
    return inAllOf(counted, (schema) => [
      ...valueFindings(`${at}/sum`, sum, schema, ['number'], AMOUNT.expected),
      ...conditionFindings(`${at}/when`, when, schema),
    ]);
  });
}

function valueFindings(
  pointer: string,
  expression: string | undefined,
  schema: JsonObject,
  types: Parameters<typeof wrongResult>[2],
  expected: string,
): Finding[] {
  if (expression === undefined) return [];
  const wrong = wrongResult(expression, schema, types);
  return [
    ...unknownInputNames(expression, schema),
    ...wrongComparisons(expression, schema),
    ...(wrong === undefined ? [] : [{ inside: 0, message: `${wrong}, and ${expected}` }]),
  ].map((problem) => ({ pointer, at: 'value', ...problem }));
}

/** A rule of an entry that may ask a policy, by the tools that it is for. */
interface PolicyUse {
  readonly entry: string;
  readonly match: string;
}

/** Lists by policy where it may be asked. */
function policyUses({ tools, limits }: JsonObject): ReadonlyMap<string, readonly PolicyUse[]> {
  const uses = new Map<string, PolicyUse[]>();
  const add = (policy: string, use: PolicyUse) => uses.set(policy, [...(uses.get(policy) ?? []), use]);
  for (const [entry, tool] of entriesOf(tools)) {
    if (!isJsonObject(tool)) continue;
    const rules = listRules('', tool.approval).map(({ pointer, value }) => ({
      pointer,
      rule: readableParts(RuleFile, value),
    }));
    for (const { rule } of rules)
      if (rule.policy !== undefined) add(rule.policy, { entry, match: rule.match ?? '*' });
    if (needsDefault(rules, isHttp(tool) ? entry : undefined))
      add(DEFAULT_POLICY_NAME, { entry, match: '*' });
    if (typeof tool.answers === 'string') add(tool.answers, { entry, match: '*' });
  }
  for (const [name, limit] of entriesOf(limits)) {
    const { policy, tools: match = name } = readableParts(LimitParts, limit);
    const all = entriesOf(tools);
    const named = all.filter(([entry, tool]) => entry === match && isHttp(tool));
    if (policy !== undefined)
      for (const [entry] of named.length > 0 ? named : all) add(policy, { entry, match });
  }
  return uses;
}

/** Checks the expressions of policies against the tools that ask them, and that somebody other than the requester can approve. */
function checkPolicies(
  { policies, tools }: JsonObject,
  uses: ReadonlyMap<string, readonly PolicyUse[]>,
  byEntry: ToolsByEntry,
): Finding[] {
  return entriesOf(policies).flatMap(([name, written]) => {
    const pointer = pointerTo('/policies', name);
    const policy = readableParts(PolicyParts, written);
    const asked = uses.get(name) ?? [];
    const findings = asked.flatMap(({ entry }) =>
      checkOthers(pointer, policy, entry, isJsonObject(tools) ? tools[entry] : undefined),
    );
    const isKnown = asked.every(({ entry }) => byEntry.has(entry));
    const judged = asked.flatMap(({ entry, match }) =>
      (byEntry.get(entry) ?? []).filter((tool) => matchesGlob(match, tool.name)),
    );
    if (!isKnown || judged.length === 0) return findings.slice(0, 1);
    const { approvers, risk, grants } = policy;
    const { groups = [], excludedFrom = [] } = approvers === undefined ? {} : toApprovers({ approvers });
    const isExpression = risk !== undefined && !/^\w+$/.test(risk);
    return [
      ...findings.slice(0, 1),
      ...inAllOf(judged, (schema) =>
        isExpression ? valueFindings(`${pointer}/risk`, risk, schema, ['text'], 'a risk must be text') : [],
      ),
      ...inAllOf(judged, (schema) => conditionFindings(`${pointer}/grants/when`, grants?.when, schema)),
      ...excludedFrom.flatMap((from) =>
        inAllOf(judged, (schema) =>
          valueFindings(`${pointer}/approvers/not/from`, from, schema, ['text', 'list'], PEOPLE.expected),
        ),
      ),
      ...groups.flatMap(({ from, pointer: at }) =>
        inAllOf(judged, (schema) =>
          valueFindings(
            `${pointer}${at.replace(/any$/, 'from')}`,
            typeof from === 'string' ? from : undefined,
            schema,
            ['text', 'list'],
            EMAIL.expected,
          ),
        ),
      ),
    ];
  });
}

/** Finds a policy that nobody can approve because everyone who may use the tool would approve an own request. */
function checkOthers(
  pointer: string,
  { approvers, quorum, self_approval: isSelfAllowed }: z.output<typeof PolicyParts>,
  entry: string,
  tool: JsonValue | undefined,
): Finding[] {
  const allow = isJsonObject(tool) && isJsonObject(tool.allow) ? tool.allow : {};
  const people = listIn(allow, 'people').map(String);
  if (approvers === undefined || isSelfAllowed === true || people.length === 0 || allow.groups !== undefined)
    return [];
  const { groups, excluded } = toApprovers({ approvers, quorum });
  if (shortageOf(groups, excluded) !== undefined) return [];
  const shortages = people.map((person) => shortageOf(groups, [...excluded, person]));
  const [shortage] = shortages;
  if (shortage === undefined || shortages.includes(undefined)) return [];
  const at = quorum === undefined || groups.length > 1 ? 'approvers' : 'quorum';
  const message = `only ${people.join(', ')} may use "${entry}", and nobody approves their own request: ${shortage}`;
  return [{ pointer: `${pointer}/${at}`, at: 'value', message }];
}

/** Finds callers whose owner would have to approve their own request: nobody else can under a policy that they come under. */
function checkOwners(
  { callers, policies }: JsonObject,
  uses: ReadonlyMap<string, readonly PolicyUse[]>,
): Finding[] {
  return entriesOf(callers).flatMap(([caller, written]) => {
    const owner = isJsonObject(written) ? written.owner : undefined;
    if (typeof owner !== 'string') return [];
    const called = listIn(written, 'tools').map(String);
    const name = entriesOf(policies).find(([policy, terms]) => {
      const isAsked =
        listIn(written, 'ask').includes(policy) ||
        (uses.get(policy) ?? []).some(({ entry }) => called.some((match) => matchesGlob(match, entry)));
      const { approvers, quorum, escalate, self_approval: isSelf } = readableParts(PolicyParts, terms);
      if (!isAsked || approvers === undefined || escalate !== undefined || isSelf === true) return false;
      const { groups, excluded } = toApprovers({ approvers, quorum });
      return (
        shortageOf(groups, excluded) === undefined && shortageOf(groups, [...excluded, owner]) !== undefined
      );
    })?.[0];
    if (name === undefined) return [];
    const message = `nobody approves their own request, and without ${owner} too few can approve under the policy "${name}"; name another owner or more approvers`;
    return [{ pointer: `${pointerTo('/callers', caller)}/owner`, at: 'value', message }];
  });
}

/** Finds policies that no rule and no limit names; "default" is also for tools that are still to come. */
function unusedPolicies(
  { policies, callers }: JsonObject,
  uses: ReadonlyMap<string, readonly PolicyUse[]>,
): Finding[] {
  const asked = new Set(entriesOf(callers).flatMap(([, caller]) => listIn(caller, 'ask')));
  return entriesOf(policies)
    .filter(([name]) => name !== DEFAULT_POLICY_NAME && !uses.has(name) && !asked.has(name))
    .map(([name]) => ({
      pointer: pointerTo('/policies', name),
      at: 'key',
      message: 'no rule and no limit uses this policy; name it in one or in "answers", or remove it',
    }));
}

function isHttp(tool: JsonValue): boolean {
  return isJsonObject(tool) && tool.http !== undefined;
}

function entriesOf(written: JsonValue | undefined): [string, JsonValue][] {
  return isJsonObject(written) ? Object.entries(written) : [];
}

function listIn(written: JsonValue, key: string): readonly JsonValue[] {
  const list = isJsonObject(written) ? written[key] : undefined;
  return Array.isArray(list) ? list : [];
}
