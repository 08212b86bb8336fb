import { hash } from 'node:crypto';
import { canonicalJson, type JsonObject, type PartialJson, toJson } from '../../agent/json.ts';
import type { FirstOf } from '../../policy/first-times.ts';
import type { Approval } from '../gate.ts';
import type { ToolEntry } from './toolbox.ts';

/**
 * The version of what the digest covers. A request of another version has another digest, so it does not run and is asked anew.
 */
const DIGEST_VERSION = 4;

/** Everything that people approve with one request. */
export interface DigestInput {
  readonly entry: ToolEntry;
  /** The whole policy, or `undefined` if it is gone. */
  readonly policy: object | undefined;
  /** The approval that the call waits for. */
  readonly asked: Approval | undefined;
  readonly input: unknown;
  /** The calls inside this one that wait, if it paused because a `generate` in its tool did. */
  readonly inner?: readonly JsonObject[] | undefined;
  /** The answer to its server or its tool that it continues with, if one waits. */
  readonly answer?: object | undefined;
  /** The question that its tool asks. */
  readonly ask?: object | undefined;
  /** The words that people read about the call. */
  readonly presented?: PartialJson | undefined;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  /** People who may not approve beside the requesters. */
  readonly barred: readonly string[];
  /** The person who edited the arguments. */
  readonly editor: string | undefined;
  readonly threadId: string;
  readonly channel: string;
  /** The first times that the call was judged by. */
  readonly firstOf?: FirstOf | undefined;
}

/** Binds a request to everything that decides about it; a change of any part gives another digest. */
export function requestDigest(given: DigestInput): string {
  return hash('sha256', canonicalJson(digestedParts(given)));
}

function digestedParts(given: DigestInput): PartialJson {
  const { entry, policy, asked, requesters, contextAuthors, barred, editor, threadId, channel } = given;
  const input = toJson(given.input);
  return {
    v: DIGEST_VERSION,
    definition: definitionDigest(entry),
    policy: policy === undefined ? null : policyDigest(policy),
    asked,
    // The rule that applies now, with its verdict.
    verdict: { ...entry.judge(input, { requesters, contextAuthors, channel, firstOf: given.firstOf }) },
    input,
    inner: given.inner,
    answer: given.answer === undefined ? undefined : toJson(given.answer),
    ask: given.ask === undefined ? undefined : toJson(given.ask),
    presented: given.presented,
    requesters,
    contextAuthors,
    barred,
    editor,
    threadId,
  };
}

/** Returns the digest of a tool's definition, with everything that decides what a call of it does. */
export function definitionDigest(entry: ToolEntry): string {
  return partDigest(entry, definitionOf);
}

/** Returns the digest of a whole policy. */
export function policyDigest(policy: object): string {
  return partDigest(policy, (whole) => whole);
}

function definitionOf({ tool, source, execution, behind }: ToolEntry): JsonObject {
  const { name, description, inputSchema, outputSchema } = tool;
  return {
    name,
    description,
    inputSchema: toJson(inputSchema.jsonSchema),
    outputSchema: toJson(outputSchema?.jsonSchema ?? null),
    effect: tool.kind === 'tool' ? tool.effect : 'none',
    execution: { ...execution },
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
