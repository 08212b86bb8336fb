import { isPerson, threadOf } from '../../port/keys.ts';
import type { NewView } from '../../port/request-record.ts';
import type { Call, RunScript } from '../run-script.ts';
import { type RawReply, ScriptReply } from '../script-reply.ts';
import type { ScriptName } from '../scripts.ts';
import { quarantine } from './quarantine.ts';

type Fields = Call['args'];

/** The result of a verb for a request that is not on record. */
export const UNKNOWN = { outcome: 'unknown' } as const;

/** Runs a script about one request; a malformed id is answered as unknown. */
export async function askAbout(
  run: RunScript,
  name: ScriptName,
  requestId: string,
  args: Fields,
): Promise<ScriptReply> {
  const threadId = threadOf(requestId);
  if (threadId === undefined) return new ScriptReply(['unknown']);
  return checked(run, threadId, requestId, await run(name, aboutRequest(threadId, requestId, args)));
}

/** Builds the call of a script about one request. */
export function aboutRequest(threadId: string, requestId: string, args: Fields): Call {
  return { threadId, requestIds: [requestId], args: [requestId, ...args] };
}

/** Quarantines the thread of a request that the script could not read. */
export async function checked(
  run: RunScript,
  threadId: string,
  requestId: string,
  raw: RawReply,
): Promise<ScriptReply> {
  const reply = new ScriptReply(raw);
  if (reply.code === 'malformed')
    await quarantineFor(run, threadId, requestId, new Error(`it has no good ${reply.string(1)}`));
  return reply;
}

/** Quarantines the thread of a request that cannot be read, and returns the reason. */
export function quarantineFor(
  run: RunScript,
  threadId: string,
  requestId: string,
  error: unknown,
): Promise<string> {
  return quarantine(run, threadId, `The request ${requestId}`, error, requestId);
}

/** Writes views as `add_views` reads them; `undefined` if the id of one is malformed. */
export function viewValues(views: readonly NewView[]): readonly string[][] | undefined {
  if (views.some(({ id }) => !isPerson(id))) return undefined;
  return views.map(({ id, place }) => [id, JSON.stringify(place)]);
}
