import { randomUUID } from 'node:crypto';
import type { RecordedStop } from '../../store/port/results.ts';
import type { Actor } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { reportStop, type StoppedRequests } from '../outbox/stop-report.ts';
import { withdraw } from './decisions/decide.ts';

/** The ways to say stop, as a whole message. */
const STOPS = new Set(
  [
    'stop, stop it, stop that, stop this, stop now, halt, abort, cancel, cancel it, cancel that, never mind, nevermind',
    'stopp, stoppe, stopp das, halt an, abbrechen, stoppen, abbruch, brich ab, hör auf, aufhören, lass das',
    'arrête, arrêtez, arrêter, arrête ça, annule, annulez, annuler, stoppe, stoppez',
    'para, pare, parar, detente, deténgase, cancela, cancele, cancelar, alto, basta',
    'fermati, ferma, annulla, pare isso, pare com isso',
    'stoppen, hou op, annuleren, sluta, avbryt, stoppa, anuluj, przestań, стоп, остановись, отмена, dur, iptal',
    'ストップ, 止めて, とめて, やめて, 中止, キャンセル, 停止, 停, 停下, 取消, 停一下, 중지, 그만, 그만해, 멈춰, 취소, 정지',
  ].flatMap((line) => line.split(', ')),
);
/** The words of politeness around them. */
const PLEASE =
  /^(?:(?:please|pls|bitte|por favor|s'il (?:te|vous) pla[iî]t|svp|per favore|alsjeblieft|пожалуйста|请|請)[ ,]*)|(?:[ ,]*(?:please|pls|now|bitte|por favor|s'il (?:te|vous) pla[iî]t|svp|per favore|alsjeblieft|пожалуйста|ください|下さい|吧|해 ?줘|해? ?주세요))$/gu;

/** Tells whether a message says stop and nothing else, in one of the ways in which people write it. */
export function isStop(text: string): boolean {
  const said = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/[.!¡。]+/g, ' ')
    .trim();
  return STOPS.has(said) || STOPS.has(said.replaceAll(PLEASE, '').trim());
}

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
