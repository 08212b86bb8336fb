import { randomUUID } from 'node:crypto';
import type { Actor, RecordedStop } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { reportStop, type StoppedRequests } from '../outbox/stop-report.ts';
import { withdraw } from './decisions/decide.ts';

/** Names the person who stops, for the record. */
export function stopperOf(threadId: string, who: string): Omit<Actor, 'eligible'> {
  return { who, evidence: { click: stopClick(threadId) } };
}

/**
 * Stops the running turn of a thread, here or elsewhere, and withdraws this person's open requests. Tells the thread what was
 * withdrawn, what was too late to stop, and what had run.
 */
export async function stopAndTell(context: BotContext, threadId: string, who: string): Promise<boolean> {
  const stoppedHere = context.turns.stop(threadId);
  // In this order: what the turn asks before the stop is on record is found open, and what it asks later is recorded as withdrawn.
  const stopped = await context.store.stop(threadId, stopperOf(threadId, who));
  // The turn that reads what the stop has ended finds it, and does not call the model.
  const item = {
    id: `stop ${randomUUID()}`,
    body: { user: who, text: 'stop', role: 'context', stops: true },
  };
  await context.store.enqueue(threadId, item, { onlyKnown: true });
  const requests = await withdrawWaiting(context, threadId, who);
  const isStopped = stoppedHere || stopped.outcome === 'stopping' || isAny(requests);
  if (isStopped) await reportStop(context, threadId, requests);
  return isStopped;
}

/**
 * Completes a stop that was recorded with an item of the inbox: stops that turn at once if it runs here, and withdraws what was open
 * then. The turn that reads the item has nothing to do with it. Returns `undefined` if nothing of
 * this person was waiting or running.
 */
export async function completeStop(
  context: BotContext,
  threadId: string,
  who: string,
  { token, at }: RecordedStop,
): Promise<StoppedRequests | undefined> {
  if (token !== undefined) context.turns.stop(threadId, token);
  const requests = await withdrawWaiting(context, threadId, who, at);
  return token !== undefined || isAny(requests) ? requests : undefined;
}

function isAny({ withdrawn, running }: StoppedRequests): boolean {
  return withdrawn.length > 0 || running.length > 0;
}

/** Withdraws this person's open requests. With a time, only those that were open then: a stop has nothing to do with what was started after it. */
export async function withdrawWaiting(
  context: BotContext,
  threadId: string,
  who: string,
  askedBefore = Number.POSITIVE_INFINITY,
): Promise<StoppedRequests> {
  const { store } = context;
  const ended = await Promise.all(
    (await store.waitingIn(threadId)).map(async (requestId) => {
      const loaded = await store.load(requestId);
      if (loaded.outcome !== 'found' || loaded.request.createdAt > askedBefore) return undefined;
      const problem = await withdraw(context, requestId, { who, id: stopClick(threadId) });
      if (problem === undefined) return { requestId, isWithdrawn: true };
      const { requesters, attempts } = loaded.request;
      if (!requesters.includes(who) || attempts === 0) return undefined;
      return { requestId, isWithdrawn: false, isTold: context.turns.stopAction(requestId) };
    }),
  );
  const found = ended.filter((each) => each !== undefined);
  return {
    withdrawn: found.flatMap(({ requestId, isWithdrawn }) => (isWithdrawn ? [requestId] : [])),
    running: found.flatMap(({ requestId, isWithdrawn }) => (isWithdrawn ? [] : [requestId])),
    told: found.flatMap(({ requestId, isTold }) => (isTold === true ? [requestId] : [])),
  };
}

/** Names a stop where the audit log names a click. */
function stopClick(threadId: string): string {
  return `stop ${threadId}`;
}
