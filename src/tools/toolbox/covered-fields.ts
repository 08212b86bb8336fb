import { type JsonValue, type PartialJson, toJson } from '../../agent/json.ts';
import type { Tool } from '../../agent/tool.ts';
import type { Policy } from '../../policy/policy.ts';
import type { ToolEntry } from './toolbox.ts';

/**
 * The version of the lists below. Another version voids every open approval and every grant, so it goes up only when what is listed means
 * something else; a new field does not need one.
 */
export const COVERED_VERSION = 1;

/** The way in which a digest takes a field. */
type Listing =
  | true
  /** The digest leaves it out, for this reason. */
  | { readonly not: string }
  /** A field that came later: the digest leaves it out while it has the value by which everything is as before. */
  | { readonly unless: JsonValue }
  /** The fields of the object, or of each object of the list. */
  | { readonly of: FieldList };
export interface FieldList {
  readonly [field: string]: Listing;
}

type ObjectsIn<Value> = Value extends readonly (infer Item)[]
  ? ObjectsIn<Item>
  : Value extends (...given: never[]) => unknown
    ? never
    : Value extends object
      ? string extends keyof Value
        ? never
        : Value
      : never;
type ListingOf<Value> =
  | Exclude<Listing, true | { readonly of: FieldList }>
  | ([ObjectsIn<Value>] extends [never] ? true : { readonly of: Fields<ObjectsIn<Value>> });
/**
 * Lists every field of a type. A new field does not compile until it is listed: `true` if people approve it and it is `undefined` where
 * nobody sets it, `unless` with its default if it has one, `not` with the reason if an approval holds whatever it is.
 */
export type Fields<Of> = { readonly [Field in keyof Of]-?: ListingOf<Of[Field]> };

const PLACE = { not: 'where it stands in the manifest decides nothing' };

/** The fields of a policy that people approve. */
export const POLICY_FIELDS: Fields<Policy> = {
  name: true,
  approvers: true,
  groups: {
    of: {
      any: true,
      from: { of: { tool: true, input: true, email: true } },
      quorum: true,
      pointer: PLACE,
    },
  },
  excluded: true,
  excludedFrom: true,
  quorum: true,
  veto: true,
  selfApproval: true,
  separation: true,
  expiresMs: true,
  startWithinMs: true,
  remindMs: true,
  escalate: { of: { afterMs: true, to: true } },
  delegation: true,
  announce: true,
  directMessages: true,
  quietHours: { of: { from: true, to: true, timeZone: true } },
  load: { of: { waiting: true, approvalsPerHour: true } },
  summary: { of: { after: true, withinMs: true } },
  confirm: { of: { low: true, medium: true, high: true } },
  risk: { of: { expression: true } },
  timeZone: true,
  grants: { of: { forMs: true, uses: true, scope: true, when: true } },
  resolvers: true,
};

type AnyTool = Extract<Tool, { kind: 'tool' }> & Omit<Extract<Tool, { kind: 'interrupt' }>, 'kind'>;
const CODE = { not: 'the digest of the module, or the version of the program, stands for its code' };
const JUDGED = { not: 'the verdict of the call is a part of its own' };
const AT_START = { not: 'it is read again before the start' };

const TOOL_FIELDS: Fields<AnyTool> = {
  name: true,
  description: true,
  inputSchema: { of: { jsonSchema: true, parse: CODE } },
  outputSchema: { of: { jsonSchema: true, parse: CODE } },
  kind: { not: 'what waits for an approval has a function' },
  effect: true,
  matches: CODE,
  requestMetadata: CODE,
  run: CODE,
  resumedSchema: CODE,
  needsApproval: JUDGED,
  texts: { not: 'the words that people read are parts of their own' },
  preview: { not: 'the preview is a part of its own' },
  undo: CODE,
  admit: CODE,
  reconcile: CODE,
  timeoutMs: CODE,
};

/** The fields of a tool that people approve beside its call. */
export const ENTRY_FIELDS: Fields<ToolEntry> = {
  tool: { of: TOOL_FIELDS },
  source: true,
  execution: { of: { idempotent: true, maxAttempts: true, retryForMs: true, elsewhere: true } },
  behind: true,
  judge: JUDGED,
  explain: JUDGED,
  limits: AT_START,
  freezes: AT_START,
  allows: AT_START,
  notAllowed: AT_START,
  resolvedBy: { not: 'it decides who looks at an unknown outcome, which is no part of the call' },
  presentation: { not: 'the words that people read are parts of their own' },
  preview: { not: 'the preview is a part of its own' },
  runsAsRequester: { not: 'the account that it runs as is a part of its own' },
  undo: { not: 'an undo is asked for itself' },
  firstDays: { not: 'the first times of the call are a part of their own' },
  readFirst: { not: 'the first times of the call are a part of their own' },
  reversible: { not: 'it is a part of its own' },
  elicitation: { not: 'an answer is asked for itself' },
  answers: { not: 'an answer is asked for itself' },
};

const OURS = { not: 'it is ours, and another release may word it or widen it' };

/** The fields that people approve of a tool that Countersign brings along. */
export const BUILT_IN_FIELDS: FieldList = {
  ...ENTRY_FIELDS,
  tool: { of: { ...TOOL_FIELDS, description: OURS, inputSchema: OURS, outputSchema: OURS } },
};

/** Takes from a value what a digest covers of it. */
export function coveredOf(value: unknown, fields: FieldList): PartialJson {
  if (Array.isArray(value)) return value.map((item) => coveredOf(item, fields));
  if (typeof value !== 'object' || value === null) return toJson(value);
  const own: ReadonlyMap<string, unknown> = new Map(Object.entries(value));
  return Object.fromEntries(
    Object.entries(fields).map(([name, listing]) => [name, keptOf(own.get(name), listing)]),
  );
}

function keptOf(value: unknown, listing: Listing): PartialJson | undefined {
  if (value === undefined) return undefined;
  if (listing === true) return toJson(value);
  if ('not' in listing) return undefined;
  if ('of' in listing) return coveredOf(value, listing.of);
  const json = toJson(value);
  return JSON.stringify(json) === JSON.stringify(listing.unless) ? undefined : json;
}

/** Lists the fields that a digest covers, with their paths. */
export function* fieldLines(fields: FieldList, path: string): Generator<string> {
  for (const [name, listing] of Object.entries(fields)) {
    const place = `${path} ${name}`;
    if (listing === true || 'unless' in listing) yield place;
    else if ('of' in listing) yield* fieldLines(listing.of, place);
  }
}
