import { z } from 'zod';
import type { JsonObject } from '../../../agent/json.ts';
import type { GrantRecord, GrantStore } from '../../port/grants.ts';
import type { Keys } from '../../record/keys.ts';
import { JsonRecord } from '../../record/request-record.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';

/** All grants are in one shard, because a grant may be used in any thread. */
const SHARD = 0;
const Count = z.coerce.number().int().nonnegative();
const Stored = z.object({
  v: z.literal('1'),
  expires: Count,
  uses: Count,
  used: Count,
  text: z.string(),
  revoked: z.string().optional(),
});

/** Keeps grants and counts their uses. */
export function grantVerbs(run: RunScript, client: RedisClient, keys: Keys): GrantStore {
  const call = async (
    name: 'open-grant' | 'use-grant' | 'return-use' | 'revoke-grant',
    id: string,
    args: readonly (string | number)[],
  ): Promise<ScriptReply> => {
    const otherKeys = [keys.grant(id, SHARD)];
    return new ScriptReply(await run(name, { threadId: '', shard: SHARD, otherKeys, args: [id, ...args] }));
  };
  const load = async (id: string): Promise<GrantRecord | undefined> => {
    const stored = Stored.safeParse(await client.hgetall(keys.grant(id, SHARD))).data;
    if (stored === undefined) return undefined;
    const { expires: expiresAt, uses, used, text, revoked } = stored;
    const details: JsonObject = JsonRecord.parse(JSON.parse(text));
    return { id, expiresAt, uses, used, details, revokedBy: revoked?.split(' ')[1] };
  };
  return {
    async openGrant({ id, expiresAt, uses, details }) {
      const args = [
        expiresAt,
        uses,
        JSON.stringify(details),
        ...run.auditBody({ ...details, uses, expiresAt }),
      ];
      return { outcome: (await call('open-grant', id, args)).oneOf('opened', 'expired') };
    },

    async useGrant(id, callId, evidence) {
      const reply = await call('use-grant', id, [callId, ...run.auditBody(evidence)]);
      if (reply.code === 'used') return { outcome: 'used', used: reply.number(1) };
      return { outcome: reply.oneOf('unknown', 'revoked', 'expired', 'spent') };
    },

    async returnUse(id, callId, evidence) {
      await call('return-use', id, [callId, ...run.auditBody(evidence)]);
    },

    async revokeGrant(id, { who, eligible, evidence }) {
      const body = run.auditBody({ who, evidence });
      const reply = await call('revoke-grant', id, [who, eligible ? 1 : 0, ...body]);
      if (reply.code === 'revoked') return { outcome: 'revoked', used: reply.number(1) };
      return { outcome: reply.oneOf('unknown', 'not-eligible') };
    },

    loadGrant: load,

    async listGrants() {
      const [seconds] = await client.time();
      const ids = await client.zrangebyscore(keys.shard(SHARD, 'grants'), Number(seconds) * 1000, '+inf');
      const loaded = await Promise.all(ids.map(load));
      return loaded.flatMap((grant) => (grant === undefined ? [] : [grant]));
    },
  };
}
