import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery } from './model-reply.ts';

const CUT_AFTER_MS = 10;

/** Sends chunks as server-sent events, closed by `[DONE]` unless the delivery cuts or silences the stream before. */
export async function streamChunks(
  response: ServerResponse,
  chunks: readonly object[],
  delivery: Delivery,
): Promise<void> {
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map(
    (data) => `data: ${data}\n\n`,
  );
  await deliver(response, events, delivery);
}

/** Sends the events of a Responses stream, which ends with its last event. */
export async function streamEvents(
  response: ServerResponse,
  events: readonly object[],
  delivery: Delivery,
): Promise<void> {
  const lines = events.map(
    (event) => `event: ${String(Reflect.get(event, 'type'))}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  await deliver(response, lines, delivery);
}

async function deliver(
  response: ServerResponse,
  events: readonly string[],
  { cut, hang, before, delayMs = 0 }: Delivery,
): Promise<void> {
  const last = typeof cut === 'number' ? cut : hang;
  const sent = await sendEvents(response, events.slice(0, last), delayMs, before);
  if (!sent) return;
  if (cut !== undefined) {
    // From Node 24 on, fetch drops the bytes that arrive together with the end of the connection.
    await sleep(CUT_AFTER_MS);
    response.socket?.destroySoon();
  } else if (hang === undefined) response.end();
}

/** Sends the bytes of an event stream exactly as given and ends the response. */
export async function streamRaw(
  response: ServerResponse,
  chunks: readonly string[],
  delayMs = 0,
): Promise<void> {
  if (await sendEvents(response, chunks, delayMs)) response.end();
}

async function sendEvents(
  response: ServerResponse,
  events: readonly string[],
  delayMs: number,
  before?: Delivery['before'],
): Promise<boolean> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  response.flushHeaders();
  for (const [chunk, event] of events.entries()) {
    await before?.(chunk);
    if (delayMs > 0) await sleep(delayMs, undefined, { signal: gone.signal }).catch(() => undefined);
    if (gone.signal.aborted || response.destroyed) return false;
    response.write(event);
  }
  return true;
}
