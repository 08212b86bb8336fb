import { randomUUID } from 'node:crypto';
import { type JsonObject, toJson } from '../../../agent/json.ts';
import { refuseNewer } from '../../errors.ts';
import type { Attempt, FinishResult, Outcome, StartResult, Store } from '../../port/store.ts';
import { isPerson, type Keys, threadOf } from '../../record/keys.ts';
import { type NewView, parseRequestRecord, REQUEST_VERSION } from '../../record/request-record.ts';
import type { Call, RedisClient, RunScript } from '../run-script.ts';
import { type RawReply, ScriptReply } from '../script-reply.ts';
import type { ScriptName } from '../scripts.ts';
import { keptDone, limitFields, readOver } from './policy/limit-verbs.ts';
import { quarantine } from './quarantine.ts';
import { readClaimedTurn } from './read-turn.ts';
import { areVoters, readVote, voteFields } from './vote-fields.ts';

type RequestVerbs = Pick<
  Store,
  'load' | 'vote' | 'answer' | 'end' | 'start' | 'heartbeat' | 'finish' | 'conclude' | 'redraw' | 'resolve'
>;

type Fields = readonly (string | number)[];

const UNKNOWN = { outcome: 'unknown' } as const;

/** Runs a script about one request; a malformed id is answered as unknown. */
export async function askAbout(
  run: RunScript,
  name: ScriptName,
  requestId: string,
  args: Fields,
): Promise<ScriptReply> {
  const threadId = threadOf(requestId);
  if (threadId === undefined) return new ScriptReply(['unknown']);
  return checked(run, threadId, requestId, await run(name, aboutRequest(threadId, requestId, args)));
}

function aboutRequest(threadId: string, requestId: string, args: Fields): Call {
  return { threadId, requestIds: [requestId], args: [requestId, ...args] };
}

/** Quarantines the thread of a request that the script could not read. */
async function checked(
  run: RunScript,
  threadId: string,
  requestId: string,
  raw: RawReply,
): Promise<ScriptReply> {
  const reply = new ScriptReply(raw);
  if (reply.code === 'malformed')
    await quarantineFor(run, threadId, requestId, new Error(`it has no good ${reply.string(1)}`));
  return reply;
}

function quarantineFor(run: RunScript, threadId: string, requestId: string, error: unknown): Promise<string> {
  return quarantine(run, threadId, `The request ${requestId}`, error, requestId);
}

/** The verbs about one request. */
export function requestVerbs(run: RunScript, client: RedisClient, keys: Keys): RequestVerbs {
  return {
    async load(requestId) {
      const threadId = threadOf(requestId);
      if (threadId === undefined) return UNKNOWN;
      const [fields, record] = await Promise.all([
        client.hgetall(keys.request(requestId)),
        client.get(keys.record(requestId)),
      ]);
      if (Object.keys(fields).length === 0) return UNKNOWN;
      refuseNewer(`The request ${requestId}`, fields.v, REQUEST_VERSION);
      try {
        return { outcome: 'found', request: parseRequestRecord(requestId, fields, record) };
      } catch (error) {
        return { outcome: 'malformed', problem: await quarantineFor(run, threadId, requestId, error) };
      }
    },

    async vote(requestId, vote, attempt) {
      if (!areVoters(vote)) return { outcome: 'not-eligible' };
      const args = [...voteFields(run, vote), ...(attempt === undefined ? [] : attemptFields(run, attempt))];
      const reply = await askAbout(run, 'vote', requestId, args);
      const voted = readVote(reply);
      const started = voted.outcome === 'voted' ? reply.after(4) : undefined;
      return started === undefined ? voted : { ...voted, started: readStart(started) };
    },

    async answer(requestId, { who, eligible, evidence }, value) {
      if (!isPerson(who)) return { outcome: 'not-eligible' };
      const body = run.auditBody({ who, value, evidence });
      const args = [who, eligible ? 1 : 0, JSON.stringify(value), ...body];
      const reply = await askAbout(run, 'answer', requestId, args);
      return reply.plain('answered', 'expired', 'is-an-approval', 'not-eligible', 'own-request');
    },

    async end(requestId, end) {
      const { who = '', evidence, isOperator = false } = end.state === 'withdrawn' ? end : {};
      if (end.state === 'withdrawn' && !isPerson(who)) return { outcome: 'not-yours' };
      const reason = end.state === 'expired' ? '' : (end.reason ?? '');
      const words = { reason, ...(evidence !== undefined && { who, evidence }) };
      const body = end.state === 'expired' ? ['', ''] : run.auditBody(words);
      const args = [end.state, who, reason, ...body, isOperator ? 1 : 0];
      const reply = await askAbout(run, 'end', requestId, args);
      return reply.plain('ended', 'unknown-outcome', 'not-due', 'not-yours');
    },

    async redraw(requestId, { cause = '', views = [] }) {
      const listed = viewFields(views);
      if (listed === undefined) return { outcome: 'invalid-view' };
      const reply = await askAbout(run, 'redraw', requestId, [cause, ...listed]);
      if (reply.code === 'redrawn') return { outcome: 'redrawn', added: reply.number(1) };
      return reply.plain<never>();
    },

    async start(requestId, attempt) {
      return readStart(await askAbout(run, 'start', requestId, attemptFields(run, attempt)));
    },

    async heartbeat(requestId, attempt, heartbeatTimeoutMs, progress = '') {
      const args = [attempt, heartbeatTimeoutMs, progress];
      const reply = await askAbout(run, 'heartbeat', requestId, args);
      if (reply.code === 'alive') return { outcome: 'alive' };
      return { outcome: 'lost', state: reply.code === 'lost' ? reply.string(1) : '' };
    },

    async finish(requestId, outcome, leaseMs) {
      const threadId = threadOf(requestId);
      if (threadId === undefined) return UNKNOWN;
      const claim = [leaseMs === undefined ? '' : randomUUID(), leaseMs ?? 0];
      const args = [...outcomeFields(run, outcome), ...claim];
      const call = aboutRequest(threadId, requestId, args);
      const { reply: raw, log } =
        leaseMs === undefined
          ? { reply: await run('finish', call), log: undefined }
          : await run.withLog('finish', call);
      const reply = await checked(run, threadId, requestId, raw);
      const finished = readFinish(reply);
      if (finished.outcome !== 'finished' || log === undefined) return finished;
      return { ...finished, turn: await readClaimedTurn(run, threadId, reply.after(2), log) };
    },

    async conclude({ threadId, token }, requestId, conclusion) {
      if (threadOf(requestId) !== threadId) return UNKNOWN;
      const { state } = conclusion;
      const payload = 'reason' in conclusion ? conclusion.reason : JSON.stringify(conclusion.summary);
      const args = [token, state, payload, ...run.auditBody({ ...conclusion })];
      const reply = await askAbout(run, 'conclude', requestId, args);
      if (reply.code === 'concluded') return { outcome: 'concluded', state: reply.string(1) };
      return reply.plain('stale');
    },

    async resolve(requestId, { who, eligible, evidence }, verdict, reason, tries) {
      if (!isPerson(who)) return { outcome: 'not-eligible' };
      const body = run.auditBody({ who, verdict, reason, evidence } satisfies JsonObject);
      const args = [who, verdict, eligible ? 1 : 0, reason, ...body, tries ?? ''];
      const reply = await askAbout(run, 'resolve', requestId, args);
      switch (reply.code) {
        case 'resolved':
          return { outcome: 'resolved', state: reply.string(1) };
        case 'not-unknown':
          return { outcome: 'not-unknown', state: reply.string(1) };
        default:
          return reply.plain('not-eligible', 'not-as-shown', 'own-request');
      }
    },
  };
}

/** Writes views in the order in which `add_views` reads them; `undefined` if the id of one is malformed. */
export function viewFields(views: readonly NewView[]): Fields | undefined {
  if (views.some(({ id }) => !isPerson(id))) return undefined;
  return [views.length, ...views.flatMap(({ id, place }) => [id, JSON.stringify(place)])];
}

/** Writes an attempt in the order in which `start.lua` reads it. */
function attemptFields(run: RunScript, start: Attempt): Fields {
  const { attempt, tool, digest, heartbeatTimeoutMs, stillEligible, groups, evidence, counts } = start;
  const body = run.auditBody({
    ...{ attempt, digest, stillEligible, evidence },
    ...(groups !== undefined && { groups: toJson(groups) }),
  });
  const people = stillEligible.map((who) =>
    groups === undefined ? who : `${who}=${(groups[who] ?? []).join(',')}`,
  );
  const own = [start.elsewhere === true ? 1 : '', counts?.action ?? '', keptDone(start.done)];
  const limits = limitFields(counts?.limits);
  return [attempt, digest, heartbeatTimeoutMs, ...body, people.join(' '), tool, ...own, ...limits];
}

function readStart(reply: ScriptReply): StartResult {
  switch (reply.code) {
    case 'started':
      return { outcome: 'started', tries: reply.number(1) };
    case 'frozen':
    case 'elsewhere':
      return { outcome: reply.code };
    case 'over':
      return readOver(reply);
    case 'superseded':
    case 'unknown-outcome':
      return { outcome: reply.code, reason: reply.string(1) };
    case 'not-approved':
      return { outcome: 'not-approved', state: reply.string(1) };
    case 'not-next':
      return { outcome: 'not-next' };
    default:
      return reply.plain<never>();
  }
}

/** Writes an outcome in the order in which `finish.lua` reads it. */
function outcomeFields(run: RunScript, { attempt, state, message, summary }: Outcome): Fields {
  const body = run.auditBody({ attempt, state, summary });
  return [attempt, state, JSON.stringify(message), JSON.stringify(summary), ...body];
}

function readFinish(reply: ScriptReply): FinishResult {
  if (reply.code === 'unknown' || reply.code === 'malformed') return { outcome: reply.code };
  return { outcome: reply.oneOf('finished', 'stale'), state: reply.string(1) };
}
