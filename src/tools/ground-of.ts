import { createHash } from 'node:crypto';
import { canonicalJson, toJson } from '../agent/json.ts';
import type { Policy } from './policy.ts';
import { definitionOf } from './request-digest.ts';
import type { ToolEntry } from './toolbox.ts';

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
