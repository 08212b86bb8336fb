import { JsonRecord } from '../../../../agent/json-schema.ts';
import type { Keys } from '../../../port/keys.ts';
import type { GrantRecord, GrantStore } from '../../../port/workspace.ts';
import type { RedisClient, RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';

const GRANT = 'grant|';
/** The version, when it expires, its uses, then what it is for. */
const STORED = /^1 (\d+) (\d+) (.*)$/s;

/** Keeps grants in one hash and counts their uses. */
export function grantVerbs(run: RunScript, client: RedisClient, keys: Keys): GrantStore {
  return {
    async revokeGrant(id, { who, eligible, evidence, erases = false }) {
      const body = run.auditBody({ who, evidence });
      const args = [id, who, eligible ? 1 : 0, ...body, erases ? 1 : 0];
      const reply = new ScriptReply(await run('revoke-grant', { threadId: '', args }));
      if (reply.code === 'revoked') return { outcome: 'revoked', used: reply.number(1) };
      return { outcome: reply.oneOf('unknown', 'not-eligible') };
    },

    async listGrants() {
      const fields = await client.hgetall(keys.shared('grants'));
      const names = Object.keys(fields).sort();
      const grants = names.flatMap((name): GrantRecord[] => {
        const [, expiresAt, uses, text = ''] = STORED.exec(fields[name] ?? '') ?? [];
        if (!name.startsWith(GRANT) || expiresAt === undefined) return [];
        const id = name.slice(GRANT.length);
        const calls = names.flatMap((each) =>
          each.startsWith(`call|${id}|`) ? [each.slice(`call|${id}|`.length)] : [],
        );
        return [
          {
            id,
            calls,
            expiresAt: Number(expiresAt),
            uses: Number(uses),
            used: Number(fields[`used|${id}`] ?? 0),
            details: JsonRecord.parse(JSON.parse(text)),
            revokedBy: fields[`revoked|${id}`]?.split(' ')[1],
          },
        ];
      });
      return grants.sort((left, right) => left.expiresAt - right.expiresAt);
    },
  };
}
