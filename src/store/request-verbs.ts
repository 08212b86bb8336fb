import { z } from 'zod';
import type { JsonObject } from '../agent/json.ts';
import { isPerson, type Keys, threadOf } from './keys.ts';
import type { Store } from './port.ts';
import { parseRequestRecord } from './request-record.ts';
import type { RedisClient, RunScript } from './run-script.ts';
import { Answer, statement } from './said.ts';
import type { ScriptName } from './scripts.ts';
import { setAside } from './set-aside.ts';

type RequestVerbs = Pick<
  Store,
  | 'load'
  | 'vote'
  | 'answer'
  | 'withdraw'
  | 'supersede'
  | 'start'
  | 'beat'
  | 'finish'
  | 'abandon'
  | 'addViews'
  | 'resolve'
>;

const UNKNOWN = { outcome: 'unknown' } as const;

/** Asks a script about one request; an id that is none cannot be the id of anything. */
export async function askAbout(
  run: RunScript,
  name: ScriptName,
  requestId: string,
  args: readonly (string | number)[],
): Promise<Answer> {
  const threadId = threadOf(requestId);
  if (threadId === undefined) return new Answer(['unknown']);
  const answer = new Answer(
    await run(name, { threadId, requestIds: [requestId], args: [requestId, ...args] }),
  );
  if (answer.code === 'malformed')
    await setAsideFor(run, threadId, requestId, new Error(`it has no good ${answer.word(1)}`));
  return answer;
}

function setAsideFor(run: RunScript, threadId: string, requestId: string, error: unknown): Promise<string> {
  return setAside(run, threadId, `The request ${requestId}`, error, requestId);
}

/** What people and workers do to one request. */
export function requestVerbs(run: RunScript, client: RedisClient, keys: Keys): RequestVerbs {
  return {
    async load(requestId) {
      const threadId = threadOf(requestId);
      if (threadId === undefined) return UNKNOWN;
      const fields = await client.hgetall(keys.request(requestId));
      if (Object.keys(fields).length === 0) return UNKNOWN;
      try {
        return { outcome: 'found', request: parseRequestRecord(requestId, fields) };
      } catch (error) {
        const problem = await setAsideFor(run, threadId, requestId, error);
        return { outcome: 'malformed', problem };
      }
    },

    async vote(requestId, { who, eligible, evidence, decision, shown, reason = '' }) {
      if (!isPerson(who)) return { outcome: 'not-eligible' };
      const said = statement({ who, decision, reason, evidence });
      const answer = await askAbout(run, 'vote', requestId, [
        who,
        decision,
        shown,
        eligible ? 1 : 0,
        ...said,
        reason,
      ]);
      switch (answer.code) {
        case 'voted':
          return {
            outcome: 'voted',
            state: answer.word(1),
            approvals: answer.number(2),
            quorum: answer.number(3),
          };
        case 'already-voted':
          return { outcome: 'already-voted', decision: answer.word(1) };
        default:
          return answer.plain('expired', 'not-an-approval', 'not-eligible', 'own-request', 'not-as-shown');
      }
    },

    async answer(requestId, { who, eligible, evidence }, value) {
      if (!isPerson(who)) return { outcome: 'not-eligible' };
      const said = statement({ who, value, evidence });
      const args = [who, eligible ? 1 : 0, JSON.stringify(value), ...said];
      const answer = await askAbout(run, 'answer', requestId, args);
      return answer.plain('answered', 'expired', 'is-an-approval', 'not-eligible');
    },

    async withdraw(requestId, { who, evidence }, reason) {
      if (!isPerson(who)) return { outcome: 'not-yours' };
      const said = statement({ who, reason, evidence });
      const answer = await askAbout(run, 'withdraw', requestId, [who, ...said, reason]);
      return answer.plain('withdrawn', 'not-yours');
    },

    async supersede(requestId, reason) {
      const answer = await askAbout(run, 'supersede', requestId, [...statement({ reason }), reason]);
      return answer.plain('superseded');
    },

    async abandon(requestId, reason) {
      const answer = await askAbout(run, 'abandon', requestId, [reason, ...statement({ reason })]);
      return answer.plain('abandoned');
    },

    async addViews(requestId, views) {
      if (views.some(({ id }) => !isPerson(id))) return { outcome: 'invalid-view' };
      const listed = views.flatMap(({ id, place }) => [id, JSON.stringify(place)]);
      const answer = await askAbout(run, 'add-views', requestId, [views.length, ...listed]);
      if (answer.code === 'added') return { outcome: 'added', views: answer.number(1) };
      return answer.plain<never>();
    },

    async start(requestId, { attempt, digest, silenceMs, stillEligible, evidence }) {
      const said = statement({ attempt, digest, stillEligible, evidence });
      const args = [attempt, digest, silenceMs, ...said, stillEligible.join(' ')];
      const answer = await askAbout(run, 'start', requestId, args);
      switch (answer.code) {
        case 'started':
          return { outcome: 'started', tries: answer.number(1) };
        case 'superseded':
          return { outcome: 'superseded', reason: answer.word(1) };
        case 'not-approved':
          return { outcome: 'not-approved', state: answer.word(1) };
        default:
          return answer.plain<never>();
      }
    },

    async beat(requestId, attempt, silenceMs, progress = '') {
      const answer = await askAbout(run, 'beat', requestId, [attempt, silenceMs, progress]);
      if (answer.code === 'beaten') return { outcome: 'beaten' };
      return { outcome: 'lost', state: answer.code === 'lost' ? answer.word(1) : '' };
    },

    async finish(requestId, { attempt, state, message, summary }) {
      const said = statement({ attempt, state, summary });
      const args = [attempt, state, JSON.stringify(message), JSON.stringify(summary), ...said];
      const answer = await askAbout(run, 'finish', requestId, args);
      if (answer.code === 'unknown' || answer.code === 'malformed') return { outcome: answer.code };
      return { outcome: z.enum(['finished', 'stale']).parse(answer.code), state: answer.word(1) };
    },

    async resolve(requestId, { who, eligible, evidence }, verdict, reason) {
      if (!isPerson(who)) return { outcome: 'not-eligible' };
      const said = statement({ who, verdict, reason, evidence } satisfies JsonObject);
      const args = [who, verdict, eligible ? 1 : 0, reason, ...said];
      const answer = await askAbout(run, 'resolve', requestId, args);
      switch (answer.code) {
        case 'resolved':
          return { outcome: 'resolved', state: answer.word(1) };
        case 'not-unknown':
          return { outcome: 'not-unknown', state: answer.word(1) };
        default:
          return answer.plain('not-eligible');
      }
    },
  };
}
