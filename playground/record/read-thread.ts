import { z } from 'zod';
import { isJsonObject } from '../../src/agent/json.ts';
import { isThreadId, type Keys, requestIdOf, threadOf } from '../../src/store/port/keys.ts';
import type { RedisClient } from '../../src/store/redis/run-script.ts';
import type { ThreadRecord } from '../record-protocol.ts';
import type { JsonObject } from '../slack/state/types.ts';
import { checkRows, parseAuditRows, StreamRange } from './audit-rows.ts';
import { execCommands, loadRequests } from './load-requests.ts';

const Thread = z.object({
  token: z.string().optional(),
  owner: z.string().optional(),
  lease_until: z.coerce.number().optional(),
  open: z.coerce.number().catch(0),
  quarantine: z.string().optional(),
});
type Thread = z.infer<typeof Thread>;
const Found = z.tuple([
  z.tuple([z.coerce.number(), z.coerce.number()]),
  z.record(z.string(), z.string()),
  z.array(z.string()),
  z.number(),
  z.record(z.string(), z.string()),
  z.unknown(),
  StreamRange,
]);

/** Reads all that the record holds of one thread, as it was at one moment, and changes nothing; `undefined` when it holds nothing. */
export async function readThread(
  client: RedisClient,
  keys: Keys,
  threadId: string,
): Promise<ThreadRecord | undefined> {
  if (!isThreadId(threadId)) return undefined;
  const [thread = '', log = '', inbox = '', , round = ''] = keys.forScript(threadId);
  const found = await execCommands(
    client
      .multi()
      .time()
      .hgetall(thread)
      .lrange(log, 0, -1)
      .llen(inbox)
      .hgetall(round)
      .hgetall(keys.shared('head'))
      .xrange(keys.shared('audit'), '-', '+'),
  );
  const [[seconds, microseconds], fields, messages, unread, open, head, range] = Found.parse(found);
  const { rows, chain } = checkRows(head, parseAuditRows(range));
  const audit = rows.filter(({ subject }) => subject === threadId || threadOf(subject) === threadId);
  if (Object.keys(fields).length === 0 && audit.length === 0) return undefined;

  const inRound = Object.keys(open).map((interruptId) => requestIdOf(threadId, interruptId));
  const named = audit.map(({ subject }) => subject).filter((subject) => subject !== threadId);
  const now = seconds * 1000 + Math.floor(microseconds / 1000);
  return {
    threadId,
    ...stateOf(Thread.parse(fields), now),
    unread,
    // A trimmed log may no longer name a request that the thread still waits for.
    requests: await loadRequests(client, keys, [...new Set([...named, ...inRound])]),
    audit,
    chain,
    messages: messages.map(readMessage),
    now,
  };
}

function stateOf(thread: Thread, now: number): Pick<ThreadRecord, 'state' | 'reason' | 'lease'> {
  const { token = '', owner, lease_until: until, open, quarantine } = thread;
  if (quarantine !== undefined) return { state: 'quarantined', reason: quarantine };
  if (owner === undefined || until === undefined) return { state: open > 0 ? 'waiting' : 'idle' };
  return { state: until > now ? 'working' : 'idle', lease: { token, until } };
}

/** Reads a message without the data that is for its provider alone; one that is damaged is shown as the text it is. */
function readMessage(text: string): JsonObject {
  try {
    const message: unknown = JSON.parse(text);
    if (isJsonObject(message)) {
      const { provider: _, ...shown } = message;
      return shown;
    }
  } catch {}
  return { role: 'unreadable', text };
}
