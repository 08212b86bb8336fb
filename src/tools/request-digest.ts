import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject, toJson } from '../agent/json.ts';
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
  const { name, description, inputSchema } = entry.tool;
  const definition = { name, description, inputSchema: inputSchema.jsonSchema, behind: entry.behind };
  const matter = canonicalJson({ definition, policy, input: toJson(input), requester, threadId });
  return createHash('sha256').update(matter).digest('hex');
}
