import { z } from 'zod';
import { tryParseJson } from '../../../../agent/json.ts';
import { refuseNewer } from '../../../errors.ts';
import type { ManifestStore, RecordedManifest } from '../../../port/manifest.ts';
import { EXPORT_SHARD, type Keys } from '../../../record/keys.ts';
import type { RedisClient, RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';

/** The version of the stored body; another shape takes the next number and a reader for this one. */
const VERSION = 1;
const Body = z.object({
  v: z.literal(VERSION),
  text: z.string(),
  lock: z.string().optional(),
  governed: z.boolean(),
});

const Version = z.object({ v: z.number() });

type ManifestScript = 'record-manifest' | 'approve-manifest' | 'adopt-manifest';

/** The manifest that is active. It lives in one shard, as the checkpoints do. */
export function manifestVerbs(run: RunScript, client: RedisClient, keys: Keys): ManifestStore {
  const key = keys.shard(EXPORT_SHARD, 'manifest');
  const call = async (name: ManifestScript, args: string[]) =>
    new ScriptReply(await run(name, { threadId: '', shard: EXPORT_SHARD, args }));

  return {
    async readManifest() {
      const { digest, body, approved } = await client.hgetall(key);
      if (digest === undefined) return undefined;
      const stored = tryParseJson(body ?? '');
      const { data: version } = Version.safeParse(stored);
      refuseNewer('The manifest on record', version && String(version.v), VERSION);
      const { text, lock, governed } = Body.parse(stored);
      return { digest, text, lock, isGoverned: governed, approved };
    },

    async recordManifest(former = '', next) {
      return (await call('record-manifest', [former, next.digest, bodyOf(next)])).oneOf(
        'recorded',
        'changed',
      );
    },

    async approveManifest(former, next, change) {
      return (await call('approve-manifest', [former, next, change])).oneOf('approved', 'changed');
    },

    async adoptManifest(former, next, { who, reason, evidence }) {
      const audit = run.auditBody({ former, digest: next.digest, who, reason, evidence });
      const reply = await call('adopt-manifest', [former, next.digest, bodyOf(next), who, ...audit]);
      return reply.oneOf('adopted', 'changed');
    },
  };
}

function bodyOf({ text, lock, isGoverned }: RecordedManifest): string {
  const body: z.infer<typeof Body> = {
    v: VERSION,
    text,
    governed: isGoverned,
    ...(lock !== undefined && { lock }),
  };
  return JSON.stringify(body);
}
