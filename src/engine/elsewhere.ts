import { randomUUID } from 'node:crypto';
import { errorPart, settledPart } from '../agent/calls/outcomes.ts';
import { toJson } from '../agent/json.ts';
import { MESSAGE_VERSION, sealMessage } from '../agent/messages.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { Report } from '../tools/toolbox/caller-action.ts';
import { attemptOf, begin } from './execute.ts';
import type { EngineContext } from './ports.ts';
import { readReason, writeReason } from './reasons.ts';
import { callOf, detailsOf } from './request-details.ts';
import { approvedRun } from './run.ts';

/** The caller that carries out a Run itself. */
interface CallerOfRun {
  readonly caller: string;
  /** The time after the start in which it says what happened. */
  readonly reportWithinMs: number;
}

/** The start of a Run by its caller. */
export type StartedElsewhere =
  | { readonly outcome: 'started' | 'frozen' | 'late' }
  /** It ended, or people are asked again; `why` is for the caller. */
  | { readonly outcome: 'refused'; readonly why: string };

/**
 * Starts an approved Run that its caller carries out. It is begun as every other: the same checks, and the same script, which lets it start
 * once. From here on it may have taken effect; a caller that says nothing leaves its outcome unknown.
 */
export async function startElsewhere(
  context: EngineContext,
  request: RequestRecord,
  { caller, reportWithinMs }: CallerOfRun,
): Promise<StartedElsewhere> {
  const { store, describeRefusal } = context;
  const run = await approvedRun(context, request);
  const timing = { heartbeatTimeoutMs: reportWithinMs };
  const attempt = randomUUID();
  const begun = await begin(context, run, (plan) => {
    const { evidence, ...planned } = attemptOf({ timing }, run, plan, attempt);
    return store.start(request.id, {
      ...planned,
      evidence: { ...evidence, [caller]: 'door' },
      elsewhere: true,
    });
  });
  if (begun.outcome === 'slow') return { outcome: 'late' };
  if (begun.outcome === 'refused') {
    await store.end(request.id, { state: 'superseded', reason: writeReason(begun.refusal) });
    return { outcome: 'refused', why: describeRefusal(begun.refusal) };
  }
  const { reply } = begun;
  if (reply.outcome === 'started' || reply.outcome === 'frozen') return { outcome: reply.outcome };
  const reason = reply.outcome === 'superseded' ? readReason(reply.reason) : undefined;
  if (reason === undefined || reason.code === 'stale-approval') return { outcome: 'late' };
  return { outcome: 'refused', why: describeRefusal(reason) };
}

/** Records what a caller says about the end of a Run that it has started; `false` if a person has said it by now. */
export async function reportElsewhere(
  { store }: Pick<EngineContext, 'store'>,
  request: RequestRecord,
  report: Report,
  { failed, unknown }: { readonly failed: string; readonly unknown: string },
): Promise<boolean> {
  const { id, attempt = '' } = request;
  const { outcome, summary } = report;
  if (outcome === 'unknown') {
    const reason = writeReason({ code: 'in-doubt', error: summary ?? unknown });
    return (await store.recover(id, { attempt, reason })).outcome === 'unknown-outcome';
  }
  const call = callOf(detailsOf(request));
  const isDone = outcome === 'succeeded';
  const part = isDone ? settledPart(call, 'ok', toJson(report)) : errorPart(call, summary ?? failed);
  const message = sealMessage({ v: MESSAGE_VERSION, role: 'tool', content: [part] });
  const finished = await store.finish(id, {
    attempt,
    message,
    state: isDone ? 'succeeded' : 'failed',
    summary: isDone ? toJson(report) : (summary ?? failed),
  });
  return finished.outcome === 'finished';
}
