import { z } from 'zod';
import type { JsonObject } from '../../../../agent/json.ts';
import type { GrantRecord, GrantStore } from '../../../port/workspace.ts';
import type { Keys } from '../../../record/keys.ts';
import { JsonRecord } from '../../../record/request-record.ts';
import type { RedisClient, RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';

const CALL = 'call:';
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
    name: 'open-grant' | 'revoke-grant',
    id: string,
    args: readonly (string | number)[],
  ): Promise<ScriptReply> => {
    const otherKeys = [keys.grant(id)];
    return new ScriptReply(await run(name, { threadId: '', otherKeys, args: [id, ...args] }));
  };
  const load = async (id: string): Promise<GrantRecord | undefined> => {
    const fields = await client.hgetall(keys.grant(id));
    const stored = Stored.safeParse(fields).data;
    if (stored === undefined) return undefined;
    const { expires: expiresAt, uses, used, text, revoked } = stored;
    const details: JsonObject = JsonRecord.parse(JSON.parse(text));
    const calls = Object.keys(fields).flatMap((name) =>
      name.startsWith(CALL) ? [name.slice(CALL.length)] : [],
    );
    return { id, expiresAt, uses, used, details, calls: calls.sort(), revokedBy: revoked?.split(' ')[1] };
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

    async revokeGrant(id, { who, eligible, evidence, erases = false }) {
      const body = run.auditBody({ who, evidence });
      const reply = await call('revoke-grant', id, [who, eligible ? 1 : 0, ...body, erases ? 1 : 0]);
      if (reply.code === 'revoked') return { outcome: 'revoked', used: reply.number(1) };
      return { outcome: reply.oneOf('unknown', 'not-eligible') };
    },

    loadGrant: load,

    async listGrants() {
      const [seconds] = await client.time();
      const ids = await client.zrangebyscore(keys.shared('grants'), Number(seconds) * 1000, '+inf');
      const loaded = await Promise.all(ids.map(load));
      return loaded.flatMap((grant) => (grant === undefined ? [] : [grant]));
    },
  };
}
