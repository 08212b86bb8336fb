import { refuseNewer } from '../../errors.ts';
import { isPerson, type Keys, requestIdOf, threadOf } from '../../port/keys.ts';
import {
  isCovered,
  parseRequestRecord,
  REQUEST_VERSION,
  type StoredRequest,
} from '../../port/request-record.ts';
import type { Store } from '../../port/store.ts';
import { pack, type RedisClient, type RunScript } from '../run-script.ts';
import { askAbout, quarantineFor, UNKNOWN, viewValues } from './about-request.ts';
import { attemptValues, readStart } from './run-verbs.ts';
import { areVoters, packVote, readVote } from './vote.ts';

type RequestVerbs = Pick<Store, 'load' | 'vote' | 'answer' | 'end' | 'redraw'>;

/** The verbs about one request, as people are asked it. */
export function requestVerbs(run: RunScript, client: RedisClient, keys: Keys): RequestVerbs {
  async function readBoth(id: string): Promise<StoredRequest> {
    const [ask, run] = await Promise.all([client.hgetall(keys.ask(id)), client.hgetall(keys.run(id))]);
    return { ask, run };
  }

  /** Reads the Ask of the plan that covers a Run, or all Runs of a plan, in one more round trip. */
  async function withPlan(threadId: string, stored: StoredRequest): Promise<StoredRequest> {
    const { ask, run: called } = stored;
    if (isCovered(called)) return { ...stored, plan: await client.hgetall(keys.ask(called.plan)) };
    if (ask.runs === undefined) return stored;
    const ids = ask.runs.split(' ').map((interrupt) => requestIdOf(threadId, interrupt));
    return { ...stored, steps: await Promise.all(ids.map(readBoth)) };
  }

  return {
    async load(requestId) {
      const threadId = threadOf(requestId);
      if (threadId === undefined) return UNKNOWN;
      const [own, record] = await Promise.all([readBoth(requestId), client.get(keys.record(requestId))]);
      const stored = await withPlan(threadId, own);
      const asked = stored.plan ?? stored.ask;
      if (Object.keys(asked).length === 0) return UNKNOWN;
      refuseNewer(`The request ${requestId}`, asked.v, REQUEST_VERSION);
      try {
        return { outcome: 'found', request: parseRequestRecord(requestId, stored, record) };
      } catch (error) {
        return { outcome: 'malformed', problem: await quarantineFor(run, threadId, requestId, error) };
      }
    },

    async vote(requestId, vote, attempt) {
      if (!areVoters(vote)) return { outcome: 'not-eligible' };
      const args = [packVote(run, vote), ...(attempt === undefined ? [] : [attemptValues(run, attempt)])];
      const reply = await askAbout(run, 'vote', requestId, args);
      const voted = readVote(reply);
      const started = voted.outcome === 'voted' ? reply.after(4) : undefined;
      return started === undefined ? voted : { ...voted, started: readStart(started) };
    },

    async answer(requestId, { who, eligible, evidence }, value) {
      if (!isPerson(who)) return { outcome: 'not-eligible' };
      const [body, digest] = run.auditBody({ who, value, evidence });
      const values = pack({ who, eligible: eligible ? 1 : 0, value: JSON.stringify(value), body, digest });
      const reply = await askAbout(run, 'answer', requestId, [values]);
      return reply.plain('answered', 'expired', 'is-an-approval', 'not-eligible', 'own-request');
    },

    async end(requestId, end) {
      const { who = '', evidence, isOperator = false } = end.state === 'withdrawn' ? end : {};
      if (end.state === 'withdrawn' && !isPerson(who)) return { outcome: 'not-yours' };
      const reason = end.state === 'expired' ? '' : (end.reason ?? '');
      const words = { reason, ...(evidence !== undefined && { who, evidence }) };
      const [body = '', digest = ''] = end.state === 'expired' ? [] : run.auditBody(words);
      const values = pack({ state: end.state, who, operator: isOperator ? 1 : 0, reason, body, digest });
      const reply = await askAbout(run, 'end', requestId, [values]);
      return reply.plain('ended', 'unknown-outcome', 'not-due', 'not-yours');
    },

    async redraw(requestId, { cause = '', views = [] }) {
      const listed = viewValues(views);
      if (listed === undefined) return { outcome: 'invalid-view' };
      const reply = await askAbout(run, 'redraw', requestId, [pack({ cause, views: listed })]);
      if (reply.code === 'redrawn') return { outcome: 'redrawn', added: reply.number(1) };
      return reply.plain<never>();
    },
  };
}
