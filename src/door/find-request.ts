import { randomBytes } from 'node:crypto';
import { callerThreadId } from '../engine/caller-threads.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { Store } from '../store/port/store.ts';
import type { ThreadSnapshot } from '../store/port/values.ts';
import type { CallerDeclaration } from '../tools/callers.ts';
import { type Refused, refuse } from './problems.ts';
import {
  type CallOnRecord,
  type RequestsOfCall,
  type RunView,
  readCall,
  requestIdsOf,
  viewOf,
} from './run-view.ts';

const RUN_ID = /^([CG][A-Z0-9]{6,20})-([0-9a-f]{32})$/;

/** Makes the id of a request that nobody can guess: its channel, the time in 12 hexadecimal digits, and 80 random bits. */
export function newRunId(channel: string): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${channel}-${time}${randomBytes(10).toString('hex')}`;
}

/** Returns when a request was made, by its id. */
export function madeAt(id: string): Date {
  const [, , digits = ''] = RUN_ID.exec(id) ?? [];
  return new Date(Number.parseInt(digits.slice(0, 12), 16));
}

/** Returns the thread of a run; another caller's run is in a thread that this one cannot name. */
export function threadOfRun({ name: caller }: CallerDeclaration, runId: string): string | undefined {
  const [, channel, id] = RUN_ID.exec(runId) ?? [];
  return channel === undefined || id === undefined ? undefined : callerThreadId({ channel, caller, id });
}

/** A request of a caller on the record. */
export interface FoundRequest {
  readonly view: RunView;
  readonly onRecord: CallOnRecord;
  /** The request that it waits for or has ended with. */
  readonly latest: RequestRecord | undefined;
}

/** Finds a request of a caller, with its view; another caller's request is not found. */
export async function findRequest(
  store: Pick<Store, 'load' | 'readThread'>,
  caller: CallerDeclaration,
  id: string,
): Promise<FoundRequest | undefined> {
  const threadId = threadOfRun(caller, id);
  if (threadId === undefined) return undefined;
  const snapshot: ThreadSnapshot = await store.readThread(threadId);
  const onRecord = readCall(snapshot);
  if (onRecord === undefined) return undefined;
  const ids = requestIdsOf(threadId, onRecord);
  const load = async (requestId: string | undefined) => {
    const loaded = requestId === undefined ? undefined : await store.load(requestId);
    return loaded?.outcome === 'found' ? loaded.request : undefined;
  };
  const latest = await load(ids.latest);
  const voted = ids.voted === ids.latest ? latest : await load(ids.voted);
  const requests: RequestsOfCall = { latest, voted };
  return { view: viewOf(id, snapshot, onRecord, requests), onRecord, latest };
}

/** Refuses a request that the caller does not have. */
export function unknownRequest({ name }: CallerDeclaration, id: string): Refused {
  return refuse('not-found', `${name} has no request "${id.slice(0, 80)}".`);
}
