import { hash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import {
  canonicalJson,
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  toJson,
  tryParseJson,
} from '../agent/json.ts';
import { JsonRecord } from '../agent/messages.ts';
import { effectiveInput } from '../agent/schema/compile-schema.ts';
import { type CallerCall, callerThreadId, callItem, withdrawItem } from '../engine/caller-threads.ts';
import type { PendingLimiter } from '../engine/pending-limiter.ts';
import type { RequestRecord, Store, ThreadSnapshot } from '../store/port/store.ts';
import { type CallerDeclaration, callerId, mayCall } from '../tools/callers.ts';
import type { Toolbox, ToolEntry } from '../tools/toolbox/toolbox.ts';
import { type Answered, accept, refuse } from './problems.ts';
import { type CallOnRecord, isFinal, latestRequestId, type RunView, readCall, viewOf } from './run-view.ts';

/** The dependencies of the door. It knows nothing of Slack: cards and people are those of the threads that it opens. */
export interface DoorContext {
  readonly store: Store;
  readonly toolbox: Pick<Toolbox, 'find' | 'tools' | 'callers' | 'refresh' | 'refreshGroups'>;
  readonly limiter: PendingLimiter;
  /** Tells whether the owner of a caller is active and may ask in a channel; throws if nobody can tell now. */
  readonly mayAsk: (owner: string, channel: string) => Promise<boolean>;
  /** Returns the trace that the present work belongs to. */
  readonly trace: () => string | undefined;
  readonly logger: Logger;
}

const LONGEST_WORDS = 3_000;

export const RunRequest = z
  .strictObject({
    tool: z.string().min(1).max(64).describe('The name of a tool that GET /v1/tools lists.'),
    input: JsonRecord.default({}).describe("The tool's input, by its schema."),
    explanation: z
      .string()
      .max(LONGEST_WORDS)
      .optional()
      .describe('Why, in the words of the caller. People see them as such.'),
    link: z
      .url()
      .max(500)
      .optional()
      .describe('An https link to the job or the session; its host is in the "links" of the caller.'),
  })
  .describe('A call of a tool of the manifest, which runs here once enough people have approved it.');
export type RunRequest = Readonly<z.infer<typeof RunRequest>>;

/** A tool that a caller may use. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
}

/** A submitted request, and whether it is a new one: the same call is joined while it is open, and the same key is the same request. */
export interface Submitted<View> {
  readonly view: View;
  readonly isNew: boolean;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
const RETRY_PENDING_S = 5;
const RETRY_HOUR_S = 60;
const MAX_DEPTH = 64;
const MAX_RACES = 10;
const POLL_MS = { first: 50, most: 1_000 };
const RUN_ID = /^([CG][A-Z0-9]{6,20})-([0-9a-f]{32})$/;

/**
 * Turns requests of callers into Runs, and Runs into answers. Each request is a thread in which the caller makes one call; gate, card,
 * votes, start and log are those of every call, and nothing here approves, starts or records any of them.
 */
export class Door {
  readonly #context: DoorContext;
  readonly #closing = new AbortController();

  constructor(context: DoorContext) {
    this.#context = context;
  }

  /** Ends all waiting; what was asked for goes on. */
  close(): void {
    this.#closing.abort();
  }

  /** Whether waiting has ended, because this process stops. */
  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Lists the tools that a caller may use now. */
  tools(caller: CallerDeclaration): readonly ListedTool[] {
    return this.#context.toolbox.tools().flatMap(({ name, description, inputSchema }) => {
      if (this.#entryFor(caller, name) === undefined) return [];
      return [{ name, description, input_schema: inputSchema.jsonSchema }];
    });
  }

  /** Takes a call on record, once for each key; an identical one that is still open is joined. */
  async submitRun(
    caller: CallerDeclaration,
    { tool, input, explanation, link }: RunRequest,
    idempotencyKey?: string,
  ): Promise<Answered<Submitted<RunView>>> {
    await this.#context.toolbox.refreshGroups();
    const entry = this.#entryFor(caller, tool);
    if (entry === undefined)
      return refuse('tool-not-allowed', `"${tool}" is not among the tools of ${caller.name}.`);
    if (isDeeperThan(MAX_DEPTH, input))
      return refuse('unfit', `The input is nested more than ${MAX_DEPTH} levels deep.`);
    const effective = effectiveInput(entry.tool.inputSchema, toJson(input));
    const fit = entry.tool.inputSchema.parse(effective);
    if (!fit.ok || !isJsonObject(effective))
      return refuse('unfit', fit.ok ? 'The input is an object.' : describeUnfit(fit));
    const asked = { caller: caller.name, owner: caller.owner, tool, input: effective };
    const said = {
      ...(explanation !== undefined && { why: explanation }),
      ...(link !== undefined && { link }),
    };
    const call = { ...asked, ...said };
    const asks = entry.judge(effective, placeOf(caller)).outcome === 'ask';
    return this.#submit(caller, call, { asks, idempotencyKey });
  }

  /** Describes a run for its caller; with `waitMs` once it has ended, or after that time. */
  async read(
    caller: CallerDeclaration,
    id: string,
    { waitMs = 0, signal }: { readonly waitMs?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Answered<RunView>> {
    const until = performance.now() + waitMs;
    const signals = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    for (let pause = POLL_MS.first; ; pause = Math.min(2 * pause, POLL_MS.most)) {
      const view = await this.#view(caller, id);
      if (view === undefined)
        return refuse('not-found', `${caller.name} has no request "${id.slice(0, 80)}".`);
      const left = until - performance.now();
      if (isFinal(view.status) || left <= 0 || signals.aborted) return accept(view);
      await sleep(Math.min(pause, left), undefined, { signal: signals }).catch(() => {});
    }
  }

  /** Withdraws a request that has not started. */
  async withdraw(caller: CallerDeclaration, id: string): Promise<Answered<RunView>> {
    const { store } = this.#context;
    const before = await this.#view(caller, id);
    const threadId = threadOfRun(caller, id);
    if (before === undefined || threadId === undefined)
      return refuse('not-found', `${caller.name} has no request "${id.slice(0, 80)}".`);
    if (before.status === 'withdrawn') return accept(before);
    if (isFinal(before.status) || before.status === 'unknown')
      return refuse('too-late', `The request is ${before.status}.`);
    const who = callerId(caller.name);
    const evidence = { through: 'door' };
    await store.enqueue(threadId, withdrawItem(caller.name), { stops: { who, evidence } });
    for (const requestId of await store.waitingIn(threadId))
      await store.end(requestId, { state: 'withdrawn', who, evidence });
    const after = await this.read(caller, id, { waitMs: WITHDRAW_MS });
    if (after.ok && after.value.status !== 'withdrawn')
      return refuse('too-late', `The request is ${after.value.status}: it has started.`);
    return after;
  }

  /** Withdraws what waits of callers that are no longer in the manifest; they could not start anything any more. */
  async withdrawRemoved(): Promise<void> {
    const { store, toolbox, logger } = this.#context;
    try {
      const now = [...toolbox.callers().keys()];
      const document = await store.readDocument(...KNOWN);
      const known = Names.parse(tryParseJson(document?.value ?? '[]'));
      for (const name of known.filter((each) => !now.includes(each))) await this.#withdrawAll(name);
      const value = JSON.stringify(now.toSorted());
      if (value !== (document?.value ?? '[]'))
        await store.writeDocument(...KNOWN, { version: hash('sha256', value), value });
    } catch (err) {
      logger.error({ err }, 'requests of removed callers not withdrawn');
    }
  }

  async #withdrawAll(name: string): Promise<void> {
    const { store, logger } = this.#context;
    const who = callerId(name);
    const reason = `${name} was removed from manifest.yml.`;
    for (;;) {
      const { requestIds } = await store.list('pending', [who], { limit: LISTED });
      const ended = await Promise.all(
        requestIds.map((id) =>
          store.end(id, { state: 'withdrawn', who, reason, evidence: { removed: name } }),
        ),
      );
      const count = ended.filter(({ outcome }) => outcome === 'ended').length;
      if (count > 0) logger.info({ caller: name, count }, 'requests of a removed caller withdrawn');
      if (count === 0) return;
    }
  }

  /** Returns the entry of a tool that a caller may use; built-in tools are for the model. */
  #entryFor(caller: CallerDeclaration, tool: string): ToolEntry | undefined {
    const entry = this.#context.toolbox.find(tool);
    if (entry === undefined || entry.source === 'built-in' || entry.tool.kind !== 'tool') return undefined;
    return mayCall(caller, tool) && entry.allows(placeOf(caller)) ? entry : undefined;
  }

  async #submit(
    caller: CallerDeclaration,
    call: CallerCall,
    { asks, idempotencyKey }: { readonly asks: boolean; readonly idempotencyKey: string | undefined },
  ): Promise<Answered<Submitted<RunView>>> {
    const { store, mayAsk, trace } = this.#context;
    const { freezes } = await store.readFreezes();
    const freeze = freezes.find(({ scope }) => scope === callerId(caller.name));
    if (freeze !== undefined)
      return refuse(
        'frozen',
        `${caller.name} was frozen by an admin${freeze.reason === '' ? '.' : `: ${freeze.reason}`}`,
      );
    const linked = checkLink(caller, call.link);
    if (linked !== undefined) return refuse('unfit', linked);
    if (!(await mayAsk(caller.owner, caller.channel)))
      return refuse(
        'owner-inactive',
        `The owner of ${caller.name} is not active in Slack, or may not ask there.`,
      );
    const placed = await this.#place(caller, call, idempotencyKey);
    if (!placed.ok) return placed;
    const { id, isOpen } = placed.value;
    const threadId = threadOfRun(caller, id) ?? '';
    if (!isOpen) {
      const refused = await this.#count(caller, threadId, asks);
      if (refused !== undefined) return refused;
    }
    const { outcome } = isOpen
      ? { outcome: 'duplicate' }
      : await store.enqueue(threadId, callItem(call, trace()));
    const view = await this.#view(caller, id);
    if (view === undefined) throw new Error(`The request ${id} was not recorded`);
    return accept({ view, isNew: outcome === 'enqueued' });
  }

  /**
   * Finds the id of a call: that of its key, that of the identical call that is open, or a new one. Both are kept as documents that are
   * written only over the version that was read, so that two processes agree.
   */
  async #place(
    caller: CallerDeclaration,
    call: CallerCall,
    key: string | undefined,
  ): Promise<Answered<{ readonly id: string; readonly isOpen: boolean }>> {
    const { store } = this.#context;
    const { why, link, ...what } = call;
    const digest = hash('sha256', canonicalJson(what));
    const byKey =
      key === undefined ? undefined : (['door-key', `${caller.name}.${hash('sha256', key)}`] as const);
    const byCall = ['door-call', `${caller.name}.${digest}`] as const;
    for (let races = 0; races < MAX_RACES; races += 1) {
      const keyed = byKey && (await store.readDocument(...byKey));
      if (keyed !== undefined && keyed.value !== digest)
        return refuse('key-reused', 'Send another Idempotency-Key with another request.');
      if (keyed !== undefined) {
        const view = await this.#view(caller, keyed.version);
        return accept({ id: keyed.version, isOpen: view !== undefined });
      }
      const same = await store.readDocument(...byCall);
      const open = same && (await this.#view(caller, same.version));
      const isJoined = same !== undefined && (open === undefined || !isFinal(open.status));
      const id = isJoined ? same.version : `${caller.channel}-${newId()}`;
      const kept = { forMs: KEPT_MS };
      const written = isJoined
        ? 'written'
        : await store.writeDocument(
            ...byCall,
            { version: id, value: '' },
            { replaces: same?.version ?? '', ...kept },
          );
      if (written === 'stale') continue;
      const claimed =
        byKey === undefined
          ? 'written'
          : await store.writeDocument(...byKey, { version: id, value: digest }, { replaces: '', ...kept });
      if (claimed === 'written') return accept({ id, isOpen: open !== undefined && isJoined });
    }
    return refuse('unavailable', 'The same request is being made at the same time; try again.', {
      retryAfterS: 1,
    });
  }

  /** Counts a new request against the limits of its caller. */
  async #count(caller: CallerDeclaration, threadId: string, asks: boolean) {
    const { store, limiter } = this.#context;
    const { pending, perHour } = caller.limits;
    const hourly = { key: `callers/${caller.name}`, amount: 1, max: perHour, windowMs: HOUR_MS };
    const counted = await store.countCall(threadId, { ref: 'submitted', limits: [hourly] });
    if (counted.outcome === 'over')
      return refuse('too-many', `${caller.name} may send ${perHour} requests in an hour.`, {
        retryAfterS: RETRY_HOUR_S,
      });
    // What needs nobody's approval does not wait.
    if (!asks) return undefined;
    const { admitted } = await limiter.admit(callerId(caller.name), 1, pending);
    if (admitted > 0) return undefined;
    return refuse('too-many-pending', `${pending} requests of ${caller.name} wait for people already.`, {
      retryAfterS: RETRY_PENDING_S,
    });
  }

  async #view(caller: CallerDeclaration, id: string): Promise<RunView | undefined> {
    const found = await this.#find(caller, id);
    return found && viewOf(id, found.snapshot, found.onRecord, found.request);
  }

  async #find(
    caller: CallerDeclaration,
    id: string,
  ): Promise<
    | {
        readonly snapshot: ThreadSnapshot;
        readonly onRecord: CallOnRecord;
        readonly request: RequestRecord | undefined;
      }
    | undefined
  > {
    const { store } = this.#context;
    const threadId = threadOfRun(caller, id);
    if (threadId === undefined) return undefined;
    const snapshot = await store.readThread(threadId);
    const onRecord = readCall(snapshot);
    if (onRecord === undefined) return undefined;
    const requestId = latestRequestId(threadId, onRecord);
    const loaded = requestId === undefined ? undefined : await store.load(requestId);
    return { snapshot, onRecord, request: loaded?.outcome === 'found' ? loaded.request : undefined };
  }
}

/** The names of the callers of the manifest that was active last. */
const KNOWN = ['door', 'callers'] as const;
const Names = z.array(z.string());
const LISTED = 1_000;

/** The time in which a withdrawn call ends. */
const WITHDRAW_MS = 2_000;

/** Makes an id that nobody can guess: the time in 12 hexadecimal digits, and 80 random bits. */
function newId(): string {
  return `${Date.now().toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`;
}

/** Returns when a request was made, by its id. */
export function madeAt(id: string): Date {
  const [, , digits = ''] = RUN_ID.exec(id) ?? [];
  return new Date(Number.parseInt(digits.slice(0, 12), 16));
}

/** Returns the thread of a run; another caller's run is in a thread that this one cannot name. */
function threadOfRun({ name: caller }: CallerDeclaration, runId: string): string | undefined {
  const [, channel, id] = RUN_ID.exec(runId) ?? [];
  return channel === undefined || id === undefined ? undefined : callerThreadId({ channel, caller, id });
}

function placeOf({ name, owner, channel }: CallerDeclaration) {
  return { requesters: [owner, callerId(name)], contextAuthors: [], channel };
}

function checkLink({ name, links }: CallerDeclaration, link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  const url = URL.canParse(link) ? new URL(link) : undefined;
  const isListed = url?.protocol === 'https:' && url.username === '' && links.includes(url.host);
  return isListed ? undefined : `The link is not https at one of the hosts in "links" of ${name}.`;
}

function describeUnfit({ field, problem }: { readonly field: string; readonly problem: string }): string {
  return field === ''
    ? `The input does not fit: ${problem}`
    : `The input does not fit at "${field}": ${problem}`;
}
