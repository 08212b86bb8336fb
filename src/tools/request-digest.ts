import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject, toJson } from '../agent/json.ts';
import type { Tool } from '../agent/tool.ts';

/** What a signature is given for; a change of any part makes another digest. */
export interface SignedMatter {
  readonly tool: Tool;
  readonly policy: JsonObject;
  readonly input: unknown;
  readonly requester: string;
  readonly threadId: string;
}

/** Binds a request to its tool, the tool's definition, the policy, the arguments, the requester and the thread. */
export function requestDigest({ tool, policy, input, requester, threadId }: SignedMatter): string {
  const { name, description, inputSchema } = tool;
  const definition = { name, description, inputSchema: inputSchema.jsonSchema };
  const matter = canonicalJson({ definition, policy, input: toJson(input), requester, threadId });
  return createHash('sha256').update(matter).digest('hex');
}
