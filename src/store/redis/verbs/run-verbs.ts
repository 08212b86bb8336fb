import { randomUUID } from 'node:crypto';
import { type JsonObject, toJson } from '../../../agent/json.ts';
import { isPerson, threadOf } from '../../port/keys.ts';
import type { FinishResult, StartResult } from '../../port/results.ts';
import type { Store } from '../../port/store.ts';
import type { Attempt, Continuation, Outcome } from '../../port/values.ts';
import { type Named, pack, type RunScript } from '../run-script.ts';
import type { ScriptReply } from '../script-reply.ts';
import { aboutRequest, askAbout, checked, UNKNOWN } from './about-request.ts';
import { keptDone, limitValues, readOver } from './policy/limit-verbs.ts';
import { readClaimedTurn } from './read-turn.ts';

type RunVerbs = Pick<Store, 'start' | 'heartbeat' | 'finish' | 'resolve'>;

/** The verbs about the Run of a request, from its start to its known outcome. */
export function runVerbs(run: RunScript): RunVerbs {
  return {
    async start(requestId, attempt) {
      return readStart(await askAbout(run, 'start', requestId, [attemptValues(run, attempt)]));
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
      if ('turn' in outcome) {
        if (outcome.turn.threadId !== threadId) return UNKNOWN;
        return readFinish(await askAbout(run, 'finish', requestId, [continuationValues(run, outcome)]));
      }
      const claim = { owner: leaseMs === undefined ? '' : randomUUID(), lease: leaseMs ?? 0 };
      const call = aboutRequest(threadId, requestId, [pack({ ...outcomeValues(run, outcome), ...claim })]);
      const { reply: raw, log } =
        leaseMs === undefined
          ? { reply: await run('finish', call), log: undefined }
          : await run.withLog('finish', call);
      const reply = await checked(run, threadId, requestId, raw);
      const finished = readFinish(reply);
      if (finished.outcome !== 'finished' || log === undefined) return finished;
      return { ...finished, turn: await readClaimedTurn(run, threadId, reply.after(2), log) };
    },

    async resolve(requestId, { who, eligible, evidence }, verdict, reason, tries) {
      if (!isPerson(who)) return { outcome: 'not-eligible' };
      const [body, digest] = run.auditBody({ who, verdict, reason, evidence } satisfies JsonObject);
      const person = { who, eligible: eligible ? 1 : 0, tries: tries ?? '' };
      const values = pack({ ...person, verdict, reason, body, digest });
      const reply = await askAbout(run, 'resolve', requestId, [values]);
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

/** Writes an attempt as `start.lua` reads it. */
export function attemptValues(run: RunScript, start: Attempt): Buffer {
  const { attempt, tool, digest, heartbeatTimeoutMs, stillEligible, groups, evidence, counts } = start;
  const [body, bodyDigest] = run.auditBody({
    attempt,
    digest,
    stillEligible,
    evidence,
    ...(groups !== undefined && { groups: toJson(groups) }),
  });
  const people = stillEligible.map((who) =>
    groups === undefined ? who : `${who}=${(groups[who] ?? []).join(',')}`,
  );
  return pack({
    attempt,
    tool,
    body,
    digest: bodyDigest,
    shown: digest,
    timeout: heartbeatTimeoutMs,
    still: people.join(' '),
    elsewhere: start.elsewhere === true ? 1 : '',
    frozen_by: start.frozenBy === undefined ? '' : encodeURIComponent(start.frozenBy),
    action: counts?.action ?? '',
    limits: limitValues(counts?.limits),
    done: keptDone(start.done),
  });
}

/** Reads the reply of `start.lua`. */
export function readStart(reply: ScriptReply): StartResult {
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

/** Writes an outcome as `finish.lua` reads it. */
function outcomeValues(run: RunScript, { attempt, state, message, summary }: Outcome): Named {
  const [body, digest] = run.auditBody({ attempt, state, summary });
  return {
    attempt,
    outcome: state,
    message: JSON.stringify(message),
    summary: JSON.stringify(summary),
    body,
    digest,
  };
}

/** Writes how a paused Run goes on as `finish.lua` reads it. */
function continuationValues(run: RunScript, { turn: { token }, ...continued }: Continuation): Buffer {
  const summary = 'reason' in continued ? continued.reason : JSON.stringify(continued.summary);
  const [body, digest] = run.auditBody({ ...continued });
  return pack({ token, outcome: continued.state, summary, body, digest });
}

function readFinish(reply: ScriptReply): FinishResult {
  if (reply.code === 'finished' || reply.code === 'stale')
    return { outcome: reply.code, state: reply.string(1) };
  return reply.plain<never>();
}
