import type { Message } from '../agent/messages.ts';
import { buildRespond, buildRestart, closeInterrupt, type Resume } from '../agent/replies.ts';
import type { Tool } from '../agent/tool.ts';
import { Transcript } from '../agent/transcript.ts';
import type { Settlement } from '../store/port.ts';

/** Turns what became of requests into replies; an action that ran has its result in the messages already. */
export function repliesTo(
  settled: readonly Settlement[],
  messages: readonly Message[],
  tools: readonly Tool[],
): Resume {
  const waiting = new Map(new Transcript(messages).interrupts.map((interrupt) => [interrupt.id, interrupt]));
  const replies = settled.flatMap((settlement): Resume[] => {
    const interrupt = waiting.get(settlement.requestId.slice(settlement.requestId.lastIndexOf('~') + 1));
    const tool = tools.find(({ name }) => name === interrupt?.toolRequest.name);
    if (interrupt === undefined) return [];
    const { state, by, payload } = settlement;
    if (state === 'answered' && tool !== undefined)
      return [{ respond: [buildRespond(tool, interrupt, JSON.parse(payload))] }];
    if (state === 'superseded' && tool?.kind === 'tool')
      return [{ restart: [buildRestart(tool, interrupt, {}, {})] }];
    if (state === 'rejected')
      return [{ close: [closeInterrupt(interrupt, 'denied', because(`Rejected by ${by}`, payload))] }];
    if (state === 'resolved') return [{ close: [closeInterrupt(interrupt, ...verdictOf(payload))] }];
    return [{ close: [closeInterrupt(interrupt, state, because(`The request is ${state}`, payload))] }];
  });
  return {
    respond: replies.flatMap(({ respond = [] }) => respond),
    restart: replies.flatMap(({ restart = [] }) => restart),
    close: replies.flatMap(({ close = [] }) => close),
  };
}

function because(what: string, reason: string): string {
  return reason === '' ? what : `${what}: ${reason}`;
}

function verdictOf(payload: string): [status: string, reason: string] {
  const [verdict = 'unknown', ...reason] = payload.split('\n');
  return [verdict, because('The outcome was unknown; a person found out', reason.join('\n'))];
}
