import type { BotContext } from '../context.ts';
import { withdraw } from '../decisions/decide.ts';
import { reportStop, type StoppedRequests } from '../reply/stop-report.ts';

/** Stops the running turn of a thread, here or elsewhere, and withdraws this person's open requests. */
export async function stopThread(context: BotContext, threadId: string, who: string): Promise<boolean> {
  return (await stopAll(context, threadId, who)).isStopped;
}

/** Does the same for a person who wants to know: tells the thread what was withdrawn, what was too late to stop, and what had run. */
export async function stopAndTell(context: BotContext, threadId: string, who: string): Promise<boolean> {
  const { isStopped, ...requests } = await stopAll(context, threadId, who);
  if (isStopped) await reportStop(context, threadId, requests);
  return isStopped;
}

async function stopAll(
  context: BotContext,
  threadId: string,
  who: string,
): Promise<StoppedRequests & { readonly isStopped: boolean }> {
  const stoppedHere = context.turns.stop(threadId);
  // In this order: what the turn asks before the stop is on record is found open, and what it asks later is recorded as withdrawn.
  const stopped = await context.store.stop(threadId, { who, evidence: { click: stopClick(threadId) } });
  const { withdrawn, running } = await withdrawWaiting(context, threadId, who);
  const isStopped = stoppedHere || stopped.outcome === 'stopping' || withdrawn.length > 0;
  return { isStopped, withdrawn, running };
}

/**
 * Does the same for a copy of the message `ts`, whose first receiver may have died: it stops the turn that ran when the message was
 * written, and what was open then. What was started later has nothing to do with it.
 */
export async function stopByCopy(
  context: BotContext,
  threadId: string,
  { user, ts }: { readonly user: string; readonly ts: string },
): Promise<void> {
  const stopper = { who: user, evidence: { click: stopClick(threadId) } };
  const stopped = await context.store.stop(threadId, stopper, ts);
  if (stopped.outcome === 'stopping') context.turns.stop(threadId);
  await withdrawWaiting(context, threadId, user, Number(ts) * 1_000);
}

/**
 * Withdraws this person's open requests. With a time, only those that were open then: a copy of a message must not stop what was
 * started after it.
 */
async function withdrawWaiting(
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
      return requesters.includes(who) && attempts > 0 ? { requestId, isWithdrawn: false } : undefined;
    }),
  );
  const found = ended.filter((each) => each !== undefined);
  return {
    withdrawn: found.flatMap(({ requestId, isWithdrawn }) => (isWithdrawn ? [requestId] : [])),
    running: found.flatMap(({ requestId, isWithdrawn }) => (isWithdrawn ? [] : [requestId])),
  };
}

/** Names a stop where the audit log names a click. */
function stopClick(threadId: string): string {
  return `stop ${threadId}`;
}
