import { hash } from 'node:crypto';
import { canonicalJson, type JsonObject, toJson } from '../../agent/json.ts';
import type { ToolEntry } from './toolbox.ts';

/** Everything that people approve with one request; a change of any part gives another digest. */
export interface DigestInput {
  readonly entry: ToolEntry;
  readonly policy: JsonObject;
  readonly input: unknown;
  readonly requesters: readonly string[];
  readonly threadId: string;
  /** The words that people read about the call; a request without any keeps the digest of older versions. */
  readonly presented?: JsonObject | undefined;
}

/** Binds a request to its tool, the tool's definition, the policy, the arguments, the requesters and the thread. */
export function requestDigest({
  entry,
  policy,
  input,
  requesters,
  threadId,
  presented,
}: DigestInput): string {
  const rest = `"requesters":${JSON.stringify(requesters)},"threadId":${JSON.stringify(threadId)}`;
  const called = `"input":${canonicalJson(toJson(input))},"policy":${policyText(policy)}`;
  const words = presented === undefined ? '' : `,"presented":${canonicalJson(presented)}`;
  return hash('sha256', `{"definition":${definitionText(entry)},${called},${rest}${words}}`);
}

const policyTexts = new WeakMap<JsonObject, string>();

/** Writes a policy as canonical JSON, once for all requests under it. */
function policyText(policy: JsonObject): string {
  const known = policyTexts.get(policy) ?? canonicalJson(policy);
  policyTexts.set(policy, known);
  return known;
}

const definitionTexts = new WeakMap<ToolEntry, string>();

/** Writes the definition of a tool as canonical JSON, once: an entry never changes. */
function definitionText(entry: ToolEntry): string {
  const known = definitionTexts.get(entry);
  if (known !== undefined) return known;
  const { name, description, inputSchema } = entry.tool;
  const written = canonicalJson({
    name,
    description,
    inputSchema: inputSchema.jsonSchema,
    behind: entry.behind,
  });
  definitionTexts.set(entry, written);
  return written;
}
