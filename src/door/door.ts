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
import {
  type CallerCall,
  callerThreadId,
  callItem,
  startOf,
  withdrawItem,
} from '../engine/caller-threads.ts';
import { findFreeze } from '../engine/execute.ts';
import type { PendingLimiter } from '../engine/pending-limiter.ts';
import type { Store, ThreadSnapshot } from '../store/port/store.ts';
import { type CallerDeclaration, callerId, mayCall } from '../tools/callers.ts';
import { CALLER_ACTION_TOOL, type Report } from '../tools/toolbox/caller-action.ts';
import type { Toolbox, ToolEntry } from '../tools/toolbox/toolbox.ts';
import {
  type AskRequest,
  type AskView,
  askViewOf,
  isUndecided,
  type OpenAsk,
  openAsk,
  readAction,
  receiptOf,
} from './ask-view.ts';
import { type Answered, accept, type Refused, refuse } from './problems.ts';
import { type ReceiptKey, signReceipt } from './receipt.ts';
import {
  type CallOnRecord,
  isFinal,
  type RequestsOfCall,
  type RunView,
  readCall,
  requestIdsOf,
  viewOf,
} from './run-view.ts';

/** The dependencies of the door. It knows nothing of Slack: cards and people are those of the threads that it opens. */
export interface DoorContext {
  readonly store: Store;
  readonly toolbox: Pick<Toolbox, 'find' | 'tools' | 'callers' | 'refresh' | 'refreshGroups'>;
  readonly limiter: PendingLimiter;
  /** Tells whether the owner of a caller is active and may ask in a channel; throws if nobody can tell now. */
  readonly mayAsk: (owner: string, channel: string) => Promise<boolean>;
  /** Returns the trace that the present work belongs to. */
  readonly trace: () => string | undefined;
  /** The key that signs receipts; without it there are none. */
  readonly key: ReceiptKey | undefined;
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
    const submitted = await this.#submit(caller, call, { asks, idempotencyKey });
    if (!submitted.ok) return submitted;
    const view = await this.#run(caller, submitted.value.id);
    if (view === undefined) throw new Error(`The request ${submitted.value.id} was not recorded`);
    return accept({ view, isNew: submitted.value.isNew });
  }

  /** Takes something on record that the caller wants to run itself, as `submitRun` does. */
  async submitAsk(
    caller: CallerDeclaration,
    { report_within, explanation: why, link, ...action }: AskRequest,
    idempotencyKey?: string,
  ): Promise<Answered<Submitted<AskView>>> {
    if (!caller.ask.includes(action.policy))
      return refuse('policy-not-allowed', `"${action.policy}" is not among the policies of ${caller.name}.`);
    const input = { caller: caller.name, ...jsonOf(action), report_within };
    const asked = { caller: caller.name, owner: caller.owner, tool: CALLER_ACTION_TOOL, input };
    const call = { ...asked, ...(why !== undefined && { why }), ...(link !== undefined && { link }) };
    const submitted = await this.#submit(caller, call, { asks: true, idempotencyKey });
    if (!submitted.ok) return submitted;
    const found = await this.#ask(caller, submitted.value.id);
    if (found === undefined) throw new Error(`The request ${submitted.value.id} was not recorded`);
    return accept({ view: found.view, isNew: submitted.value.isNew });
  }

  /** Describes an ask for its caller; with `waitMs` once people have decided, or after that time. */
  readAsk(caller: CallerDeclaration, id: string, options: WaitOptions = {}): Promise<Answered<AskView>> {
    const look = async () => (await this.#ask(caller, id))?.view;
    return this.#wait(caller, id, { look, isDone: ({ status }) => !isUndecided(status), ...options });
  }

  /**
   * Lets the caller start an approved ask, once: from here on it may have run. The start is written before the request is looked at
   * again, so that a start and the end of its time at the same moment leave the outcome unknown, and never lost.
   */
  async start(caller: CallerDeclaration, id: string): Promise<Answered<AskView>> {
    const { store } = this.#context;
    const found = await this.#ask(caller, id);
    if (found === undefined) return unknownRequest(caller, id);
    const { view, open } = found;
    if (open === undefined) return refuse('not-approved', `It is ${view.status}.`);
    if (open.isStarted) return refuse('too-late', STARTED_BEFORE);
    if (Date.now() > open.startBy) return refuse('too-late', 'The time to start it has passed.');
    const { id: requestId, threadId } = open.request;
    if ((await findFreeze(store, CALLER_ACTION_TOOL, threadId)) !== undefined)
      return refuse('frozen', 'Actions are frozen; try again later.');
    const written = await store.writeDocument(
      ...startOf(requestId),
      { version: randomBytes(16).toString('hex'), value: '' },
      {
        replaces: '',
        forMs: Math.max(0, open.reportBy - Date.now()) + KEPT_MS,
        audit: {
          ...{ event: 'caller-started', subject: requestId, detail: caller.name },
          body: { digest: view.digest },
        },
      },
    );
    if (written === 'stale') return refuse('too-late', STARTED_BEFORE);
    const after = await this.#ask(caller, id);
    if (after?.open === undefined) return refuse('too-late', `It is ${after?.view.status ?? 'gone'}.`);
    return accept(after.view);
  }

  /** Takes the report of a caller about what it has started. */
  async report(caller: CallerDeclaration, id: string, report: Report): Promise<Answered<AskView>> {
    const found = await this.#ask(caller, id);
    if (found === undefined) return unknownRequest(caller, id);
    const { view, open } = found;
    if (open === undefined) return refuse('too-late', `It is ${view.status}.`);
    if (!open.isStarted) return refuse('not-approved', 'It was not started.');
    const actor = { who: callerId(caller.name), eligible: true, evidence: { through: 'door' } };
    const { outcome } = await this.#context.store.answer(open.request.id, actor, jsonOf(report));
    if (outcome !== 'answered') return refuse('too-late', 'The time to report has passed; people are asked.');
    return this.#wait(caller, id, {
      look: async () => (await this.#ask(caller, id))?.view,
      isDone: ({ status }) => status !== 'approved' && status !== 'running',
      waitMs: SETTLE_MS,
    });
  }

  /** Describes a run for its caller; with `waitMs` once it has ended, or after that time. */
  read(caller: CallerDeclaration, id: string, options: WaitOptions = {}): Promise<Answered<RunView>> {
    const look = () => this.#run(caller, id);
    return this.#wait(caller, id, { look, isDone: ({ status }) => isFinal(status), ...options });
  }

  /** Looks at a request until it is done, the time is over, the client is gone, or the door closes. */
  async #wait<View>(
    caller: CallerDeclaration,
    id: string,
    {
      look,
      isDone,
      waitMs = 0,
      signal,
    }: WaitOptions & {
      readonly look: () => Promise<View | undefined>;
      readonly isDone: (view: View) => boolean;
    },
  ): Promise<Answered<View>> {
    const until = performance.now() + waitMs;
    const signals = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    for (let pause = POLL_MS.first; ; pause = Math.min(2 * pause, POLL_MS.most)) {
      const view = await look();
      if (view === undefined) return unknownRequest(caller, id);
      const left = until - performance.now();
      if (isDone(view) || left <= 0 || signals.aborted) return accept(view);
      await sleep(Math.min(pause, left), undefined, { signal: signals }).catch(() => {});
    }
  }

  /** Withdraws a run or an ask that has not started. */
  async withdraw(caller: CallerDeclaration, id: string): Promise<Answered<RunView | AskView>> {
    const { store } = this.#context;
    const look = async () => (await this.#ask(caller, id))?.view ?? (await this.#run(caller, id));
    const before = await look();
    const threadId = threadOfRun(caller, id);
    if (before === undefined || threadId === undefined) return unknownRequest(caller, id);
    if (before.status === 'withdrawn') return accept(before);
    const isStarted = 'action' in before && before.status === 'running';
    if (isStarted || !OPEN.has(before.status)) return refuse('too-late', `The request is ${before.status}.`);
    const who = callerId(caller.name);
    const evidence = { through: 'door' };
    await store.enqueue(threadId, withdrawItem(caller.name), { stops: { who, evidence } });
    for (const requestId of await store.waitingIn(threadId))
      await store.end(requestId, { state: 'withdrawn', who, evidence });
    const isDone = ({ status }: RunView | AskView) => !OPEN.has(status);
    const after = await this.#wait(caller, id, { look, isDone, waitMs: SETTLE_MS });
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
  ): Promise<Answered<{ readonly id: string; readonly isNew: boolean }>> {
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
    return accept({ id, isNew: outcome === 'enqueued' });
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
    return found && viewOf(id, found.snapshot, found.onRecord, found.requests);
  }

  async #run(caller: CallerDeclaration, id: string): Promise<RunView | undefined> {
    const found = await this.#find(caller, id);
    if (found === undefined || readAction(found.onRecord) !== undefined) return undefined;
    return viewOf(id, found.snapshot, found.onRecord, found.requests);
  }

  async #ask(caller: CallerDeclaration, id: string): Promise<FoundAsk | undefined> {
    const { store, key } = this.#context;
    const found = await this.#find(caller, id);
    const action = found && readAction(found.onRecord);
    if (found === undefined || action === undefined) return undefined;
    const { onRecord, requests, snapshot } = found;
    const start = requests.latest && (await store.readDocument(...startOf(requests.latest.id)));
    const isStarted = start !== undefined;
    const open = openAsk(onRecord, requests.latest, isStarted);
    const view = askViewOf(viewOf(id, snapshot, onRecord, requests), action, { open, isStarted });
    if (open === undefined || key === undefined) return { view, open };
    return { open, view: { ...view, receipt: await signReceipt(receiptOf(caller.name, view, open), key) } };
  }

  async #find(caller: CallerDeclaration, id: string): Promise<Found | undefined> {
    const { store } = this.#context;
    const threadId = threadOfRun(caller, id);
    if (threadId === undefined) return undefined;
    const snapshot = await store.readThread(threadId);
    const onRecord = readCall(snapshot);
    if (onRecord === undefined) return undefined;
    const ids = requestIdsOf(threadId, onRecord);
    const load = async (requestId: string | undefined) => {
      const loaded = requestId === undefined ? undefined : await store.load(requestId);
      return loaded?.outcome === 'found' ? loaded.request : undefined;
    };
    const latest = await load(ids.latest);
    const voted = ids.voted === ids.latest ? latest : await load(ids.voted);
    return { snapshot, onRecord, requests: { latest, voted } };
  }
}

/** A request of a caller on the record. */
interface Found {
  readonly snapshot: ThreadSnapshot;
  readonly onRecord: CallOnRecord;
  readonly requests: RequestsOfCall;
}

interface FoundAsk {
  readonly view: AskView;
  readonly open: OpenAsk | undefined;
}

/** The names of the callers of the manifest that was active last. */
const KNOWN = ['door', 'callers'] as const;
const Names = z.array(z.string());
const LISTED = 1_000;

/** The time in which a request ends after its end is on record. */
const SETTLE_MS = 2_000;
const OPEN: ReadonlySet<AskView['status']> = new Set(['queued', 'waiting', 'approved', 'running']);
const STARTED_BEFORE = 'It was started before; an approval is for one start.';

interface WaitOptions {
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

function unknownRequest({ name }: CallerDeclaration, id: string): Refused {
  return refuse('not-found', `${name} has no request "${id.slice(0, 80)}".`);
}

const Fields = z.custom<JsonObject>();

function jsonOf(value: object): JsonObject {
  return Fields.parse(toJson(value));
}

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
