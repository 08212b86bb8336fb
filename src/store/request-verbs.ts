import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../agent/json.ts';
import { type Message, readMessages } from '../agent/messages.ts';
import { isPerson, type Keys, threadOf } from './keys.ts';
import { refuseNewer } from './newer-record.ts';
import { parseRequestRecord } from './parse-request-record.ts';
import type {
  Attempt,
  FinishResult,
  LoadResult,
  Outcome,
  StartResult,
  Store,
  Vote,
  VoteResult,
} from './port.ts';
import { readGivenTurn, type TurnLog } from './read-turn.ts';
import { JsonRecord, REQUEST_VERSION } from './request-record.ts';
import { type Call, inOneWrite, type RedisClient, type RunScript, type Said } from './run-script.ts';
import { Answer, statement } from './said.ts';
import type { ScriptName } from './scripts.ts';
import { setAside } from './set-aside.ts';

type RequestVerbs = Pick<
  Store,
  | 'load'
  | 'vote'
  | 'voteAndStart'
  | 'sign'
  | 'answer'
  | 'withdraw'
  | 'supersede'
  | 'start'
  | 'beat'
  | 'finish'
  | 'finishAndTake'
  | 'abandon'
  | 'addViews'
  | 'resolve'
>;

type Fields = readonly (string | number)[];

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
  return checked(run, threadId, requestId, await run(name, aboutRequest(threadId, requestId, args)));
}

function aboutRequest(threadId: string, requestId: string, args: Fields): Call {
  return { threadId, requestIds: [requestId], args: [requestId, ...args] };
}

/** What a script said of a request; one that it could not read sets its thread aside. */
async function checked(run: RunScript, threadId: string, requestId: string, said: Said): Promise<Answer> {
  const answer = new Answer(said);
  if (answer.code === 'malformed')
    await setAsideFor(run, threadId, requestId, new Error(`it has no good ${answer.word(1)}`));
  return answer;
}

function setAsideFor(run: RunScript, threadId: string, requestId: string, error: unknown): Promise<string> {
  return setAside(run, threadId, `The request ${requestId}`, error, requestId);
}

/** What people and workers do to one request. */
export function requestVerbs(run: RunScript, client: RedisClient, keys: Keys): RequestVerbs {
  const readBoth = (requestId: string) =>
    [client.hgetall(keys.request(requestId)), client.get(keys.record(requestId))] as const;

  async function readLoaded(
    threadId: string,
    requestId: string,
    fields: Readonly<Record<string, string>>,
    record: string | null,
  ): Promise<LoadResult> {
    if (Object.keys(fields).length === 0) return UNKNOWN;
    refuseNewer(`The request ${requestId}`, fields.v, REQUEST_VERSION);
    try {
      return { outcome: 'found', request: parseRequestRecord(requestId, fields, record) };
    } catch (error) {
      return { outcome: 'malformed', problem: await setAsideFor(run, threadId, requestId, error) };
    }
  }

  async function load(requestId: string): Promise<LoadResult> {
    const threadId = threadOf(requestId);
    if (threadId === undefined) return UNKNOWN;
    const [fields, record] = await Promise.all(inOneWrite(client, () => readBoth(requestId)));
    return readLoaded(threadId, requestId, fields, record);
  }

  /** Where the messages are as expected, the log is not read. */
  async function finishWithLog(
    call: Call,
    expected: (() => readonly Message[] | undefined) | undefined,
  ): Promise<{ said: Said; log: TurnLog }> {
    if (expected === undefined) return run.withLog('finish-take', call);
    const known = (length: number) => (expected()?.length === length ? expected() : undefined);
    return { said: await run('finish-take', call), log: { ...run.logOf(call.threadId), known } };
  }

  return {
    load,

    async vote(requestId, vote) {
      if (!isPerson(vote.who)) return { outcome: 'not-eligible' };
      return readVote(await askAbout(run, 'vote', requestId, voteFields(vote)));
    },

    async voteAndStart(requestId, vote, attempt) {
      if (!isPerson(vote.who)) return { outcome: 'not-eligible' };
      const args = [...voteFields(vote), ...attemptFields(attempt)];
      const answer = await askAbout(run, 'vote-start', requestId, args);
      const voted = readVote(answer);
      if (voted.outcome !== 'voted') return voted;
      const started = answer.after(4);
      return { ...voted, started: started && readStart(started) };
    },

    async sign(requestId, { who, evidence, ground, seenAt, attempt, silenceMs }) {
      const threadId = threadOf(requestId);
      if (threadId === undefined || !isPerson(who)) return { outcome: 'look', loaded: await load(requestId) };
      const voted = statement({ who, decision: 'approve', reason: '', evidence });
      const started = statement({ attempt, ground, stillEligible: [who], evidence: { [who]: evidence } });
      const args = [who, ground, seenAt.join(' '), ...voted, attempt, silenceMs, ...started];
      const { said, log } = await run.withLog('sign', aboutRequest(threadId, requestId, args));
      const answer = await checked(run, threadId, requestId, said);
      if (answer.code !== 'signed') {
        const [fields, record] = answer.code === 'look' ? [answer.pairs(1), answer.word(2)] : [{}, null];
        return { outcome: 'look', loaded: await readLoaded(threadId, requestId, fields, record) };
      }
      const [requester, digest, record] = [answer.word(1), answer.word(2), answer.word(3)];
      try {
        const details = JsonRecord.parse(JSON.parse(record));
        const isAlone = answer.word(4) === '1';
        return {
          outcome: 'signed',
          request: { id: requestId, threadId, requester, digest, details, by: who },
          history: isAlone ? historyIn(log.rows) : undefined,
        };
      } catch (error) {
        throw new Error(await setAsideFor(run, threadId, requestId, error), { cause: error });
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

    async start(requestId, attempt) {
      return readStart(await askAbout(run, 'start', requestId, attemptFields(attempt)));
    },

    async beat(requestId, attempt, silenceMs, progress = '') {
      const answer = await askAbout(run, 'beat', requestId, [attempt, silenceMs, progress]);
      if (answer.code === 'beaten') return { outcome: 'beaten' };
      return { outcome: 'lost', state: answer.code === 'lost' ? answer.word(1) : '' };
    },

    async finish(requestId, outcome) {
      return readFinish(await askAbout(run, 'finish', requestId, outcomeFields(outcome)));
    },

    async finishAndTake(requestId, outcome, leaseMs, expected) {
      const args = [...outcomeFields(outcome), randomUUID(), leaseMs];
      const threadId = threadOf(requestId);
      if (threadId === undefined) return UNKNOWN;
      const { said, log } = await finishWithLog(aboutRequest(threadId, requestId, args), expected);
      const answer = await checked(run, threadId, requestId, said);
      const finished = readFinish(answer);
      if (finished.outcome !== 'finished') return finished;
      return { ...finished, turn: await readGivenTurn(run, threadId, answer.after(2), log) };
    },

    async resolve(requestId, { who, eligible, evidence }, verdict, reason, tries) {
      if (!isPerson(who)) return { outcome: 'not-eligible' };
      const said = statement({ who, verdict, reason, evidence } satisfies JsonObject);
      const args = [who, verdict, eligible ? 1 : 0, reason, ...said, tries ?? ''];
      const answer = await askAbout(run, 'resolve', requestId, args);
      switch (answer.code) {
        case 'resolved':
          return { outcome: 'resolved', state: answer.word(1) };
        case 'not-unknown':
          return { outcome: 'not-unknown', state: answer.word(1) };
        default:
          return answer.plain('not-eligible', 'not-as-shown');
      }
    },
  };
}

/** The messages in some rows, for as long as nobody needs the memory: an action may run for hours. */
function historyIn(rows: readonly string[]): () => readonly Message[] | undefined {
  const kept = new WeakRef(rows);
  return () => {
    const found = kept.deref();
    return found && readMessages(found);
  };
}

/** The fields of a vote in the order in which `vote.lua` reads them. */
function voteFields({ who, eligible, evidence, decision, shown, reason = '' }: Vote): Fields {
  return [who, decision, shown, eligible ? 1 : 0, ...statement({ who, decision, reason, evidence }), reason];
}

function readVote(answer: Answer): VoteResult {
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
}

/** The fields of an attempt in the order in which `start.lua` reads them. */
function attemptFields({ attempt, digest, silenceMs, stillEligible, evidence }: Attempt): Fields {
  const said = statement({ attempt, digest, stillEligible, evidence });
  return [attempt, digest, silenceMs, ...said, stillEligible.join(' ')];
}

function readStart(answer: Answer): StartResult {
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
}

/** The fields of an outcome in the order in which `finish.lua` reads them. */
function outcomeFields({ attempt, state, message, summary }: Outcome): Fields {
  const said = statement({ attempt, state, summary });
  return [attempt, state, JSON.stringify(message), JSON.stringify(summary), ...said];
}

function readFinish(answer: Answer): FinishResult {
  if (answer.code === 'unknown' || answer.code === 'malformed') return { outcome: answer.code };
  return { outcome: answer.oneOf('finished', 'stale'), state: answer.word(1) };
}
