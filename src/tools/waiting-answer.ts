import type { JsonValue } from '../agent/json.ts';
import type { Interrupt } from '../agent/messages.ts';
import { answerOf, answersInWords } from './mcp/server-pause.ts';
import { ownAnswerOf } from './pause.ts';

/** An answer that people have to approve before the call goes on with it: it decides what an approved call does. */
export interface WaitingAnswer {
  readonly by: readonly string[];
  /** The server that asked; `undefined` if the tool itself did. */
  readonly server: string | undefined;
  /** The questions and answers, for people. */
  readonly words: JsonValue;
}

/** Returns the answer that waits for approval with a pause; `undefined` for every other pause. */
export function waitingAnswerOf(interrupt: Pick<Interrupt, 'metadata'>): WaitingAnswer | undefined {
  const sent = answerOf(interrupt);
  if (sent !== undefined) return { by: sent.by, server: sent.pause.server, words: answersInWords(sent) };
  const own = ownAnswerOf(interrupt);
  if (own === undefined) return undefined;
  const { ask, answer, by } = own;
  return { by, server: undefined, words: [{ question: ask.message, answer }] };
}
