import { createHash, hash } from 'node:crypto';
import { canonicalJson, type JsonObject, toJson } from '../../agent/json.ts';
import type { Policy } from '../gate/policy.ts';
import type { ToolEntry } from './toolbox.ts';

/** What a signature is given for; a change of any part makes another digest. */
export interface SignedMatter {
  readonly entry: ToolEntry;
  readonly policy: JsonObject;
  readonly input: unknown;
  readonly requester: string;
  readonly threadId: string;
}

/** Binds a request to its tool, the tool's definition, the policy, the arguments, the requester and the thread. */
export function requestDigest({ entry, policy, input, requester, threadId }: SignedMatter): string {
  const rest = `"requester":${JSON.stringify(requester)},"threadId":${JSON.stringify(threadId)}`;
  const called = `"input":${canonicalJson(toJson(input))},"policy":${policyText(policy)}`;
  return hash('sha256', `{"definition":${definitionOf(entry)},${called},${rest}}`);
}

const policies = new WeakMap<JsonObject, string>();

/** A policy as canonical JSON; many requests are made under one, so it is written once. */
function policyText(policy: JsonObject): string {
  const known = policies.get(policy) ?? canonicalJson(policy);
  policies.set(policy, known);
  return known;
}

const definitions = new WeakMap<ToolEntry, string>();

/** The definition of a tool as canonical JSON; an entry never changes, so it is written once. */
export function definitionOf(entry: ToolEntry): string {
  const known = definitions.get(entry);
  if (known !== undefined) return known;
  const { name, description, inputSchema } = entry.tool;
  const written = canonicalJson({
    name,
    description,
    inputSchema: inputSchema.jsonSchema,
    behind: entry.behind,
  });
  definitions.set(entry, written);
  return written;
}

/**
 * Names all that a signature rests on beside the call itself: every tool's definition and every policy. While this is the same,
 * the digest of a request is what it was when it was asked.
 */
export function groundOf(entries: Iterable<ToolEntry>, policies: Iterable<Policy>): string {
  const definitions = [...entries].map(definitionOf).sort();
  const rules = [...policies].map((policy) => canonicalJson(toJson(policy))).sort();
  return createHash('sha256')
    .update(JSON.stringify([definitions, rules]))
    .digest('base64url')
    .slice(0, 22);
}
