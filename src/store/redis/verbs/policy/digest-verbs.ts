import { z } from 'zod';
import type { JsonObject } from '../../../../agent/json.ts';
import type { DigestStore } from '../../../port/digests.ts';
import type { Keys } from '../../../record/keys.ts';
import type { RedisClient, RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';

const ON = 'on|';
const Place = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);

/** Keeps the digest of each person in a hash; the person takes the place of a thread. */
export function digestVerbs(run: RunScript, client: RedisClient, keys: Keys): DigestStore {
  return {
    async tell(person, { id, revision }, delayMs, limit) {
      const args = [id, revision, delayMs, limit?.after ?? '', limit?.withinMs ?? ''];
      const reply = new ScriptReply(await run('digest-tell', { threadId: person, args }));
      return { outcome: reply.oneOf('card', 'listed') };
    },

    async readDigest(person) {
      const stored = await client.hgetall(keys.digest(person));
      const entries = Object.entries(stored).flatMap(([name, value]) =>
        name.startsWith(ON) ? [{ requestId: name.slice(ON.length), since: Number.parseInt(value, 10) }] : [],
      );
      return {
        revision: Number(stored.rev ?? 0),
        entries: entries.sort((a, b) => a.since - b.since || (a.requestId < b.requestId ? -1 : 1)),
        number: Number(stored.number ?? 0),
        place: stored.place === undefined ? undefined : Place.parse(JSON.parse(stored.place)),
        postedAt: Number(stored.posted_at ?? 0),
        postedRevision: Number(stored.posted_rev ?? 0),
      };
    },
  };
}
