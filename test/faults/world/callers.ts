import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { SigningKey } from '../../../src/audit/signing-key.ts';
import { verifyReceipt } from '../../../src/door/receipt.ts';
import { noteEffect } from '../worker/effects.ts';
import type { Errand } from './errand.ts';
import { CALLER_KEY } from './manifest.ts';
import type { People } from './people.ts';

interface CallersContext {
  readonly people: People;
  readonly effectsFile: string;
  /** The doors of the workers that live. */
  readonly ports: () => readonly number[];
  readonly auditKey: SigningKey;
  /** Lets a quarantined thread go on. */
  readonly release: (threadId: string) => Promise<void>;
}

const Answer = z.looseObject({
  id: z.string().default(''),
  status: z.union([z.string(), z.number()]),
  receipt: z.string().optional(),
});
type Answer = z.infer<typeof Answer> & { readonly code: number };

const HTTP_OK = 200;
const REPORT_WITHIN_S = 8;
/** Thirty callers ask again and again; faster than this the machine does little else. */
const PAUSE_MS = 400;
const FINAL = ['succeeded', 'failed', 'denied', 'rejected', 'expired', 'withdrawn'];
/** The points at which a caller dies; each second caller lives. */
const DEATHS = ['asked', 'waiting', 'started', 'effect'] as const;
type Death = (typeof DEATHS)[number];

const LOOKS_UNTIL_RETRY = 25;
const threadOf = (id: string) => id.replace('-', ':caller.job.');

class CallerDied extends Error {}

/** Callers at the door: each asks for one thing, dies somewhere, and comes again as a new process with the same key. */
export class Callers {
  readonly #context: CallersContext;
  /** The number of times that each receipt was accepted, by the path of its ask. */
  readonly receiptUses = new Map<string, number>();
  /** Approved asks whose receipt does not verify. */
  readonly badReceipts: string[] = [];
  deaths = 0;
  #begun = 0;
  #isOver = false;

  constructor(context: CallersContext) {
    this.#context = context;
  }

  stop(): void {
    this.#isOver = true;
  }

  ask(errand: Errand, mode: 'run' | 'ask'): void {
    this.#context.people.expect(errand);
    void this.#live(errand, mode);
  }

  async #live(errand: Errand, mode: 'run' | 'ask'): Promise<void> {
    this.#begun += 1;
    const own = this.#begun % 2 === 0 ? DEATHS[(this.#begun / 2) % DEATHS.length] : undefined;
    for (let death: Death | undefined = own; !this.#isOver; death = undefined) {
      try {
        await (mode === 'run' ? this.#run(errand, death) : this.#runItself(errand, death));
        this.#context.people.finish(errand);
        return;
      } catch (error) {
        if (!(error instanceof CallerDied)) throw error;
        this.deaths += 1;
      }
    }
  }

  async #run(errand: Errand, death: Death | undefined): Promise<void> {
    const [call] = errand.calls;
    if (call === undefined) return;
    const { tool, token, amount } = call;
    const asked = await this.#send('POST', '/v1/runs', { tool, input: { token, amount } }, token);
    if (death === 'asked') throw new CallerDied();
    await this.#follow(`/v1/runs/${asked.id}`, (status) => FINAL.includes(status), death);
  }

  /** Uses a receipt twice at the same time and once more in the end, and has the effect for each time that it is accepted. */
  async #runItself(errand: Errand, death: Death | undefined): Promise<void> {
    const [call] = errand.calls;
    if (call === undefined) return;
    const { token, amount } = call;
    const action = { policy: 'charge', title: token, command: `charge ${token} ${amount}` };
    const body = { ...action, report_within: REPORT_WITHIN_S };
    const asked = await this.#send('POST', '/v1/asks', body, token);
    if (death === 'asked') throw new CallerDied();
    const path = `/v1/asks/${asked.id}`;
    const isDecided = (status: string) => status === 'approved' || FINAL.includes(status);
    let taken = 0;
    let sentAt = 0;
    while (taken === 0) {
      const decided = await this.#follow(path, isDecided, death);
      if (decided.status !== 'approved') break;
      await this.#checkReceipt(path, decided);
      sentAt = performance.now();
      taken = await this.#start(path, 2);
      if (death === 'started') throw new CallerDied();
    }
    // An answer that comes late may be after people were asked.
    if (taken > 0 && performance.now() - sentAt < (REPORT_WITHIN_S * 1_000) / 2) {
      for (let times = 0; times < taken; times += 1) this.#takeEffect(call, path);
      if (death === 'effect') throw new CallerDied();
      await this.#send('POST', `${path}/report`, { outcome: 'succeeded' });
    }
    await this.#follow(path, (status) => FINAL.includes(status), undefined);
    await this.#start(path, 1);
  }

  #takeEffect({ tool, token, amount }: Errand['calls'][number], path: string): void {
    const input = JSON.stringify({ token, amount });
    const effect = { tool, token, input, key: token, threadId: path, at: Date.now(), process: process.pid };
    noteEffect(this.#context.effectsFile, effect);
  }

  async #start(path: string, times: number): Promise<number> {
    const sent = Array.from({ length: times }, () => this.#once('POST', `${path}/start`));
    const taken = (await Promise.all(sent)).filter((answer) => answer?.code === HTTP_OK).length;
    if (taken > 0) this.receiptUses.set(path, (this.receiptUses.get(path) ?? 0) + taken);
    return taken;
  }

  async #checkReceipt(path: string, { id, receipt = '' }: Answer): Promise<void> {
    const read = await verifyReceipt(receipt, this.#context.auditKey.publicKeys).catch(() => undefined);
    if (read?.ask !== id) this.badReceipts.push(path);
  }

  async #follow(path: string, isEnough: (status: string) => boolean, death: Death | undefined) {
    for (let looks = 1; ; looks += 1) {
      const answer = await this.#send('GET', path);
      if (isEnough(String(answer.status))) return answer;
      if (death === 'waiting') throw new CallerDied();
      // Five processes in a row may have died with its thread: an admin reads so, and lets it go on.
      if (looks % LOOKS_UNTIL_RETRY === 0) await this.#context.release(threadOf(answer.id)).catch(() => {});
      await sleep(PAUSE_MS);
    }
  }

  /** Sends a request until some worker answers it. */
  async #send(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    for (;;) {
      const answer = await this.#once(method, path, body, key);
      if (answer !== undefined && answer.code < 500 && answer.code !== 429) return answer;
      if (this.#isOver) throw new CallerDied();
      await sleep(PAUSE_MS);
    }
  }

  async #once(method: string, path: string, body?: object, key?: string): Promise<Answer | undefined> {
    const ports = this.#context.ports().filter((port) => port > 0);
    const port = ports[Math.floor(Math.random() * ports.length)];
    if (port === undefined) return undefined;
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${CALLER_KEY}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(5_000),
      });
      return { ...Answer.parse(await response.json()), code: response.status };
    } catch {
      // The worker died before it answered: it may have done what it was asked.
      return undefined;
    }
  }
}
