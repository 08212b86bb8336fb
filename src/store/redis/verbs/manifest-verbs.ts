import { z } from 'zod';
import { tryParseJson } from '../../../agent/json.ts';
import type { ManifestStore } from '../../port/manifest.ts';
import { EXPORT_SHARD, type Keys } from '../../record/keys.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';

/** The version of the stored body; another shape takes the next number and a reader for this one. */
const VERSION = 1;
const Body = z.object({
  v: z.literal(VERSION),
  text: z.string(),
  lock: z.string().optional(),
  governed: z.boolean(),
});

/** The manifest that is active. It lives in one shard, as the checkpoints do. */
export function manifestVerbs(run: RunScript, client: RedisClient, keys: Keys): ManifestStore {
  const key = keys.shard(EXPORT_SHARD, 'manifest');
  const call = async (name: 'record-manifest' | 'approve-manifest', args: string[]) =>
    new ScriptReply(await run(name, { threadId: '', shard: EXPORT_SHARD, args }));

  return {
    async readManifest() {
      const { digest, body, approved } = await client.hgetall(key);
      if (digest === undefined) return undefined;
      const { text, lock, governed } = Body.parse(tryParseJson(body ?? ''));
      return { digest, text, lock, isGoverned: governed, approved };
    },

    async recordManifest(former = '', { digest, text, lock, isGoverned }) {
      const body: z.infer<typeof Body> = {
        v: VERSION,
        text,
        governed: isGoverned,
        ...(lock !== undefined && { lock }),
      };
      return (await call('record-manifest', [former, digest, JSON.stringify(body)])).oneOf(
        'recorded',
        'changed',
      );
    },

    async approveManifest(former, next, change) {
      return (await call('approve-manifest', [former, next, change])).oneOf('approved', 'changed');
    },
  };
}
