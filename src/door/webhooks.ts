import { createHmac, hash } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import { describeError } from '../agent/errors.ts';
import { backOffMs } from '../agent/util/abort.ts';
import { parseCallerThread } from '../engine/caller-threads.ts';
import type { Store } from '../store/port/store.ts';
import type { OutboxItem } from '../store/port/values.ts';
import type { CallerDeclaration, CallerWebhook } from '../tools/callers.ts';
import { guardedFetch } from '../tools/http/guard/guarded-fetch.ts';
import type { ProxySettings } from '../tools/http/proxy.ts';
import type { Door } from './door.ts';

interface WebhookContext {
  readonly store: Pick<Store, 'done' | 'retryOutbox'>;
  readonly door: Pick<Door, 'look'>;
  readonly callers: () => ReadonlyMap<string, CallerDeclaration>;
  readonly proxy: ProxySettings | undefined;
  /** Counts a message by its caller and what became of it. */
  readonly count: (caller: string, result: 'delivered' | 'failed' | 'given-up') => void;
  readonly logger: Logger;
  /** The time for which a message is tried. */
  readonly giveUpMs?: number;
}

type RowItem = OutboxItem & { readonly kind: 'row' };

const Row = z.object({ thread: z.string(), at: z.number() });
const BACK_OFF = { firstMs: 1_000, longestMs: 900_000 };
const GIVE_UP_MS = 3 * 86_400_000;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 65_536;
const GONE = 410;
/** A reader may rely on it: another one has another form. */
const WEBHOOK_VERSION = 1;
/** Messages of this process that are on their way at a time; others wait in the outbox. */
const MOST_SENDING = 50;
const BUSY_MS = 1_000;

/**
 * Tells callers about their requests, by Standard Webhooks. A message comes from the outbox and is sent at least once: with the same id
 * each time, later and later, until the receiver takes it or too much time has passed. A slow receiver holds up nobody else.
 */
export class Webhooks {
  readonly #context: WebhookContext;
  readonly #sending = new Set<Promise<void>>();
  readonly #fetches = new WeakMap<CallerWebhook, ReturnType<typeof guardedFetch>>();

  constructor(context: WebhookContext) {
    this.#context = context;
  }

  /** Takes a row of the outbox and returns before it is sent; its lease ends if this process does not live to send it. */
  async take(item: RowItem): Promise<void> {
    const { store, logger } = this.#context;
    if (this.#sending.size >= MOST_SENDING) {
      await store.retryOutbox(item, BUSY_MS, { isUnsent: true });
      return;
    }
    const sending = this.#send(item).catch((err: unknown) =>
      logger.warn({ item: item.item, err }, 'webhook not recorded'),
    );
    this.#sending.add(sending);
    void sending.finally(() => this.#sending.delete(sending));
  }

  /** Resolves when nothing is on its way any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#sending);
  }

  async #send(item: RowItem): Promise<void> {
    const { store, callers, count, logger, giveUpMs = GIVE_UP_MS } = this.#context;
    const { thread, at } = Row.parse(item.body);
    const { channel = '', caller: name = '', id = '' } = parseCallerThread(thread) ?? {};
    const caller = callers().get(name);
    const view = caller && (await this.#context.door.look(caller, `${channel}-${id}`));
    // A caller that has left the manifest, or wants no messages any more, gets none.
    if (caller?.webhook === undefined || view === undefined) {
      await store.done(item);
      return;
    }
    const type = 'action' in view ? 'ask.updated' : 'run.updated';
    const message = { id: `msg_${hash('sha256', item.rowId).slice(0, 32)}`, type, data: view };
    const problem = await this.#post(caller.webhook, message);
    if (problem === undefined) {
      count(name, 'delivered');
      await store.done(item);
      return;
    }
    const isLast = problem.isGone || Date.now() - at > giveUpMs;
    count(name, isLast ? 'given-up' : 'failed');
    const fields = { caller: name, item: item.item, tries: item.tries, reason: problem.reason };
    if (isLast) {
      logger.error(fields, 'webhook given up');
      await store.done(item);
      return;
    }
    logger.warn(fields, 'webhook failed, will retry');
    await store.retryOutbox(item, backOffMs(item.tries + 1, BACK_OFF));
  }

  async #post(
    webhook: CallerWebhook,
    { id, type, data }: { readonly id: string; readonly type: string; readonly data: object },
  ): Promise<{ readonly reason: string; readonly isGone: boolean } | undefined> {
    const now = new Date();
    const body = JSON.stringify({ v: WEBHOOK_VERSION, type, timestamp: now.toISOString(), data });
    try {
      const response = await this.#fetchOf(webhook)(webhook.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...signedHeaders(webhook.secret, id, now, body) },
        body,
        redirect: 'manual',
      });
      await response.body?.cancel();
      if (response.ok) return undefined;
      return { reason: `status ${response.status}`, isGone: response.status === GONE };
    } catch (error) {
      return { reason: describeError(error), isGone: false };
    }
  }

  /** Reaches public addresses only, and the private hosts that the manifest names, as every other call out. */
  #fetchOf(webhook: CallerWebhook): ReturnType<typeof guardedFetch> {
    const { proxy } = this.#context;
    const { allowPrivate } = webhook;
    const known = this.#fetches.get(webhook);
    const made = known ?? guardedFetch({ allowPrivate, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, proxy });
    this.#fetches.set(webhook, made);
    return made;
  }
}

/** Signs a message: HMAC-SHA256 over its id, its time and its body, with the bytes behind `whsec_`. */
export function signedHeaders(secret: string, id: string, at: Date, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
