import { z } from 'zod';
import type { JsonObject } from '../agent/json.ts';
import { type Message, readMessages } from '../agent/messages.ts';
import { requestIdOf } from './keys.ts';
import { refuseNewer } from './newer-record.ts';
import type { InboxItem, Settlement, TakenTurn, TakeResult } from './port.ts';
import { readPart } from './problem-of.ts';
import { SettledState } from './request-record.ts';
import type { RunScript, ThreadLog } from './run-script.ts';
import type { Answer } from './said.ts';
import { setAside } from './set-aside.ts';

const THREAD_VERSION = 1;
const Version = z.literal(String(THREAD_VERSION));
const Item = z.strictObject({
  id: z.string(),
  body: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null),
});

/** Where a turn's messages come from: the thread's log, or whoever knows already what stands in it. */
export interface TurnLog extends Pick<ThreadLog, 'ofLength'> {
  /** The messages of the log if they are as many as that; rows are only ever added, so as many are the same. */
  readonly known?: ((length: number) => readonly Message[] | undefined) | undefined;
}

/** What `take` said; a record that cannot be read sets its own thread aside and harms no other. */
export async function readTake(
  run: RunScript,
  threadId: string,
  said: Answer,
  log: TurnLog,
): Promise<TakeResult> {
  switch (said.code) {
    case 'taken': {
      refuseNewer(`The thread ${threadId}`, said.word(5), THREAD_VERSION);
      const length = said.number(2);
      const known = log.known?.(length);
      const rows = known === undefined ? await log.ofLength(length) : [];
      try {
        return { outcome: 'taken', turn: parseTurn(threadId, said, known ?? readMessages(rows)) };
      } catch (error) {
        const reason = await setAside(run, threadId, 'The record of this thread', error);
        return { outcome: 'quarantined', reason };
      }
    }
    case 'busy':
      return { outcome: 'busy', until: said.number(1) };
    case 'waiting':
      return { outcome: 'waiting', requests: said.number(1) };
    case 'quarantined':
      return { outcome: 'quarantined', reason: said.word(1) };
    default:
      return { outcome: 'idle' };
  }
}

/** The turn that a joined script gave beside its own result, if it gave one that can be read. */
export async function readGivenTurn(
  run: RunScript,
  threadId: string,
  said: Answer | undefined,
  log: TurnLog,
): Promise<TakenTurn | undefined> {
  const taken = said === undefined ? undefined : await readTake(run, threadId, said, log);
  return taken?.outcome === 'taken' ? taken.turn : undefined;
}

function parseTurn(threadId: string, said: Answer, messages: readonly Message[]): TakenTurn {
  readPart('v', () => Version.parse(said.word(5)));
  return {
    threadId,
    token: said.word(1),
    messages,
    inbox: said.list(3).map((row): InboxItem => Item.parse(JSON.parse(row))),
    settled: parseSettled(threadId, said.list(4)),
  };
}

function parseSettled(threadId: string, pairs: readonly string[]): Settlement[] {
  return pairs.flatMap((interruptId, index) => {
    const value = pairs[index + 1];
    if (index % 2 === 1 || value === undefined) return [];
    const requestId = requestIdOf(threadId, interruptId);
    const [state = '', by = '', ...payload] = value.split('\n');
    const known = readPart(`The state of ${requestId}`, () => SettledState.parse(state));
    return [{ requestId, state: known, by, payload: payload.join('\n') }];
  });
}
