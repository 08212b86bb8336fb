import { hash } from 'node:crypto';
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PartialJson,
  pointerTo,
  toJson,
} from '../../agent/json.ts';
import {
  DIGEST_PARTS,
  DIGEST_VERSION,
  type DigestParts,
  type Hashing,
  hashPart,
  hashParts,
  partsIn,
} from '../../policy/digest.ts';
import type { FirstOf } from '../../policy/first-times.ts';
import type { Policy } from '../../policy/policy.ts';
import type { ApprovalVerdict } from '../../policy/rules.ts';
import type { Approval } from '../gate.ts';
import type { Secrets } from '../secrets.ts';
import { redactFields } from './protect-tool.ts';
import type { ToolEntry } from './toolbox.ts';

/** A named part of the digest. */
export interface DigestPart {
  readonly name: string;
  readonly value: PartialJson | undefined;
}

/** Everything that people approve with one request. */
export interface DigestInput {
  readonly entry: ToolEntry;
  /** The whole policy, or `undefined` if it is gone. */
  readonly policy: Policy | undefined;
  /** The terms of the policy as they were when the request was made: who may decide, and how. */
  readonly terms?: object | undefined;
  /** The approval that the call waits for. */
  readonly asked: Pick<Approval, 'policy' | 'rule'> | undefined;
  readonly input: unknown;
  /** The words that people read about the call. */
  readonly presented?: { readonly title: string; readonly target?: string | undefined } | undefined;
  /** The parts that features add, by name. */
  readonly facets?: readonly DigestPart[] | undefined;
  /** The first times that its rules were judged by, as they were found. */
  readonly first?: object | undefined;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  /** People who may not approve beside the requesters. */
  readonly barred: readonly string[];
  readonly threadId: string;
  readonly channel: string;
  /** The first times that the call was judged by. */
  readonly firstOf?: FirstOf | undefined;
}

/** Binds a request to everything that decides about it; a change of any part gives another digest. */
export function requestDigest(given: DigestInput): string {
  return digestOfParts(digestParts(given));
}

/** Computes the digest of parts as the row `asked` holds them. */
export function digestOfParts(parts: DigestParts): string {
  return hashed(hashParts(parts));
}

/** Lists what a digest covers by name, as it stands in the row `asked`. */
export function digestParts(given: DigestInput): DigestParts {
  const { entry, policy, asked, requesters, contextAuthors, barred, threadId, channel } = given;
  const input = toJson(given.input);
  const { title, target, ...shown } = given.presented ?? {};
  const verdict = entry.judge(input, { requesters, contextAuthors, channel, firstOf: given.firstOf });
  const own: { readonly [Part in keyof DigestParts]: unknown } = {
    tool: entry.tool.name,
    definition: definitionDigest(entry),
    policy_definition: policy && policyDigest(policy),
    policy_name: policy?.name,
    policy: given.terms,
    rule: asked?.rule,
    rule_policy: asked?.policy,
    verdict: verdictFields(verdict),
    arguments: input,
    title,
    target,
    shown: given.presented && shown,
    first: given.first,
    requesters,
    barred: listed(barred),
    thread: threadId,
  };
  const whole = toJson({ ...facetParts(given.facets), ...own });
  return isJsonObject(whole) ? partsIn(whole) : {};
}

/** Joins the parts of features; an empty list is the same as none. */
function facetParts(facets: DigestInput['facets'] = []): Readonly<Record<string, PartialJson | undefined>> {
  return Object.fromEntries(
    facets.map(({ name, value }) => [name, Array.isArray(value) && value.length === 0 ? undefined : value]),
  );
}

function listed<Item>(items: readonly Item[] | undefined): readonly Item[] | undefined {
  return items === undefined || items.length === 0 ? undefined : items;
}

function verdictFields(verdict: ApprovalVerdict): PartialJson {
  const { outcome, rule } = verdict;
  if (verdict.outcome === 'run') return { outcome, rule };
  if (verdict.outcome === 'deny') return { outcome, rule, reason: verdict.reason };
  const { policy, overLimit, because } = verdict;
  return { outcome, rule, policy, overLimit, because };
}

/** Writes the fields of the row `asked` that its digest can be computed from. */
export function digestedFields(parts: DigestParts): JsonObject {
  return { ...parts, digest_version: DIGEST_VERSION };
}

/**
 * Removes secrets from the body of a row. Of each value that a digest covers and that is gone with them the row keeps the hash, so that the
 * digest can still be computed from it: what it cannot show is then known to be missing, and nothing else.
 */
export function redactRow(body: JsonObject, secrets: Secrets): JsonObject {
  const redacted = redactFields(body, secrets);
  if (body.digest_version !== DIGEST_VERSION) return redacted;
  const hidden = DIGEST_PARTS.flatMap((name) => {
    const [part, left] = [body[name], redacted[name]];
    return part === undefined || left === undefined ? [] : hiddenIn(name, part, left);
  });
  return hidden.length === 0 ? redacted : { ...redacted, hidden: Object.fromEntries(hidden) };
}

function hiddenIn(name: string, part: JsonValue, left: JsonValue): [pointer: string, hash: string][] {
  const pointer = pointerTo('', name);
  const values = hiddenValues(pointer, part, left);
  return values === 'keys' || values.some(([at]) => at === pointer)
    ? [[pointer, hashed(hashPart(name, part))]]
    : values;
}

/** Lists the values that were redacted; a key that was redacted hides all of them. */
function hiddenValues(pointer: string, value: JsonValue, left: JsonValue): [string, string][] | 'keys' {
  if (canonicalJson(value) === canonicalJson(left)) return [];
  if (typeof value !== 'object' || value === null) return [[pointer, hash('sha256', JSON.stringify(value))]];
  const [before, after] = [Object.entries(value), new Map(Object.entries(left ?? {}))];
  const found = before.map(([key, entry]) => {
    const kept = after.get(key);
    return kept === undefined ? 'keys' : hiddenValues(pointerTo(pointer, key), entry, kept);
  });
  return found.includes('keys') || before.length !== after.size
    ? 'keys'
    : found.flatMap((each) => (each === 'keys' ? [] : each));
}

/** Runs a computation with the hashes that it asks for. */
function hashed<Result>(steps: Hashing<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next(hash('sha256', step.value));
  return step.value;
}

/** Returns the digest of a tool's definition, with everything that decides what a call of it does. */
export function definitionDigest(entry: ToolEntry): string {
  return partDigest(entry, definitionOf);
}

/** Returns the digest of a whole policy. */
export function policyDigest(policy: Policy): string {
  return partDigest(policy, policyFields);
}

/** Names every field of a policy that is part of what people approve; the compiler asks for one that is new. */
const POLICY_FIELDS: Readonly<Record<keyof Policy, true>> = {
  name: true,
  approvers: true,
  groups: true,
  excluded: true,
  excludedFrom: true,
  quorum: true,
  veto: true,
  selfApproval: true,
  separation: true,
  expiresMs: true,
  startWithinMs: true,
  remindMs: true,
  escalate: true,
  delegation: true,
  announce: true,
  directMessages: true,
  quietHours: true,
  load: true,
  summary: true,
  confirm: true,
  risk: true,
  timeZone: true,
  grants: true,
  resolvers: true,
};

function policyFields(policy: Policy): object {
  return Object.fromEntries(Object.entries(policy).filter(([name]) => Object.hasOwn(POLICY_FIELDS, name)));
}

function definitionOf({ tool, source, execution, behind }: ToolEntry): JsonObject {
  const { name, description, inputSchema, outputSchema } = tool;
  const { idempotent, maxAttempts, retryForMs, elsewhere = false } = execution;
  return {
    name,
    description,
    inputSchema: toJson(inputSchema.jsonSchema),
    outputSchema: toJson(outputSchema?.jsonSchema ?? null),
    effect: tool.kind === 'tool' ? tool.effect : 'none',
    execution: { idempotent, maxAttempts, retryForMs, elsewhere },
    source,
    behind,
  };
}

const partDigests = new WeakMap<object, string>();

/** Computes the digest of an entry or a policy once: neither ever changes. */
function partDigest<Part extends object>(part: Part, contentOf: (part: Part) => object): string {
  const known = partDigests.get(part) ?? hash('sha256', canonicalJson(toJson(contentOf(part))));
  partDigests.set(part, known);
  return known;
}
