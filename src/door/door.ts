import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { isDeeperThan, isJsonObject, type JsonObject, toJson, tryParseJson } from '../agent/json.ts';
import { JsonRecord } from '../agent/json-schema.ts';
import { effectiveInput } from '../agent/schema/compile-schema.ts';
import type { Effect } from '../agent/tool.ts';
import { withdrawItem } from '../engine/caller-threads.ts';
import { reportElsewhere, startElsewhere } from '../engine/elsewhere.ts';
import { planProblem } from '../engine/plans.ts';
import type { EngineContext } from '../engine/ports.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import { PlanInput, PROPOSE_PLAN } from '../tools/built-ins.ts';
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
import { findRequest, threadOfRun, unknownRequest } from './find-request.ts';
import { type Answered, accept, type Refused, refuse } from './problems.ts';
import { type ReceiptKey, signReceipt } from './receipt.ts';
import { isFinal, type RunView } from './run-view.ts';
import { type SubmitContext, submit } from './submit.ts';

/** The dependencies of the door. It knows nothing of Slack: cards and people are those of the threads that it opens. */
export interface DoorContext extends SubmitContext {
  readonly toolbox: Pick<Toolbox, 'find' | 'tools' | 'policy' | 'callers' | 'refresh' | 'refreshPeople'>;
  /** Returns the engine, with people as they are now: what it begins may take effect at once. */
  readonly engine: () => EngineContext;
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
      .describe('Why, in the words of the caller. People see them as such. A plan says it in its goal.'),
    link: z
      // As parsers read it: a backslash before an "@" makes some of them see another host.
      .url({ normalize: true })
      .max(500)
      .optional()
      .describe('An https link to the job or the session; its host is in the "links" of the caller.'),
    on_behalf_of: z
      .string()
      .max(8_192)
      .optional()
      .describe('A token of the person for whom the caller asks; they count as requester.'),
  })
  .describe('A call of a tool of the manifest, which runs here once enough people have approved it.');
export type RunRequest = Readonly<z.infer<typeof RunRequest>>;

/** The key of a request, and the person for whom it is made. */
interface SubmitOptions {
  readonly key?: string | undefined;
  /** One who has proven it. */
  readonly person?: string | undefined;
}

/** A tool that a caller may use. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
  readonly output_schema?: JsonObject;
  readonly effect: Effect;
}

/** A submitted request, and whether it is a new one: the same call is joined while it is open, and the same key is the same request. */
export interface Submitted<View> {
  readonly view: View;
  readonly isNew: boolean;
}

const MAX_DEPTH = 64;
const POLL_MS = { first: 50, most: 1_000 };

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
    return this.#context.toolbox.tools().flatMap(({ name }) => {
      const tool = this.#entryFor(caller, name)?.tool;
      if (tool?.kind !== 'tool') return [];
      const { description, inputSchema, outputSchema, effect } = tool;
      const listed = { name, description, input_schema: inputSchema.jsonSchema, effect };
      return [outputSchema === undefined ? listed : { ...listed, output_schema: outputSchema.jsonSchema }];
    });
  }

  /** Takes a call on record, once for each key; an identical one that is still open is joined. */
  async submitRun(
    caller: CallerDeclaration,
    { tool, input, explanation, link }: RunRequest,
    { key: idempotencyKey, person }: SubmitOptions = {},
  ): Promise<Answered<Submitted<RunView>>> {
    await this.#context.toolbox.refreshPeople(placeOf(caller, person).requesters);
    const entry = this.#entryFor(caller, tool, person);
    if (entry === undefined)
      return refuse('tool-not-allowed', `"${tool}" is not among the tools of ${caller.name}.`);
    if (isDeeperThan(MAX_DEPTH, input))
      return refuse('unfit', `The input is nested more than ${MAX_DEPTH} levels deep.`);
    const effective = effectiveInput(entry.tool.inputSchema, toJson(input));
    const fit = entry.tool.inputSchema.parse(effective);
    if (!fit.ok || !isJsonObject(effective))
      return refuse('unfit', fit.ok ? 'The input is an object.' : describeUnfit(fit));
    const asked = { caller: caller.name, owner: caller.owner, ...(person !== undefined && { person }) };
    const said = {
      ...(explanation !== undefined && { why: explanation }),
      ...(link !== undefined && { link }),
    };
    const call = { ...asked, ...said, tool, input: effective };
    const { data: plan } = PlanInput.safeParse(tool === PROPOSE_PLAN ? effective : undefined);
    if (plan !== undefined && explanation !== undefined)
      return refuse('unfit', 'A plan has no "explanation": say it in its "goal".');
    const refused = plan && this.#refusePlan(caller, plan, person);
    if (refused !== undefined) return refused;
    const isAsked = plan !== undefined || entry.judge(effective, placeOf(caller, person)).outcome === 'ask';
    const asks = isAsked ? 'always' : mayAsk(entry) ? 'perhaps' : 'never';
    const submitted = await submit(this.#context, caller, call, { asks, idempotencyKey });
    if (!submitted.ok) return submitted;
    const view = await this.#run(caller, submitted.value.id);
    if (view === undefined) throw new Error(`The request ${submitted.value.id} was not recorded`);
    return accept({ view, isNew: submitted.value.isNew });
  }

  /** Takes something on record that the caller wants to run itself, as `submitRun` does. */
  async submitAsk(
    caller: CallerDeclaration,
    { report_within, explanation: why, link, on_behalf_of: _token, ...action }: AskRequest,
    { key: idempotencyKey, person }: SubmitOptions = {},
  ): Promise<Answered<Submitted<AskView>>> {
    if (!caller.ask.includes(action.policy))
      return refuse('policy-not-allowed', `"${action.policy}" is not among the policies of ${caller.name}.`);
    const input = { caller: caller.name, ...jsonOf(action), report_within };
    const named = { caller: caller.name, owner: caller.owner, ...(person !== undefined && { person }) };
    const asked = { ...named, tool: CALLER_ACTION_TOOL, input };
    const call = { ...asked, ...(why !== undefined && { why }), ...(link !== undefined && { link }) };
    const submitted = await submit(this.#context, caller, call, { asks: 'always', idempotencyKey });
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

  /** Lets the caller start an approved ask, once: from here on it may have run. */
  async start(caller: CallerDeclaration, id: string): Promise<Answered<AskView>> {
    const found = await this.#ask(caller, id);
    if (found === undefined) return unknownRequest(caller, id);
    const { view, open, latest } = found;
    if (latest !== undefined && latest.attempts > 0) return refuse('too-late', STARTED_BEFORE);
    if (open === undefined)
      return refuse(view.status === 'expired' ? 'too-late' : 'not-approved', `It is ${view.status}.`);
    const started = await startElsewhere(this.#context.engine(), open.request, {
      caller: callerId(caller.name),
      reportWithinMs: open.reportWithinMs,
    });
    if (started.outcome === 'frozen') return refuse('frozen', 'Actions are frozen; try again later.');
    if (started.outcome === 'refused') return refuse('not-approved', started.why);
    const after = await this.#ask(caller, id);
    if (started.outcome === 'started' && after?.open !== undefined) return accept(after.view);
    const isStarted = after?.latest !== undefined && after.latest.attempts > 0;
    return refuse('too-late', isStarted ? STARTED_BEFORE : 'The time to start it has passed.');
  }

  /** Takes the report of a caller about what it has started; also a late one, as long as nobody else has said what happened. */
  async report(caller: CallerDeclaration, id: string, report: Report): Promise<Answered<AskView>> {
    const found = await this.#ask(caller, id);
    if (found === undefined) return unknownRequest(caller, id);
    const { view, latest } = found;
    if (latest?.state === 'approved') return refuse('not-approved', 'It was not started.');
    if (latest?.state !== 'started' && latest?.state !== 'unknown')
      return refuse('too-late', `It is ${view.status}.`);
    const isTaken = await reportElsewhere(this.#context.engine(), latest, report, {
      failed: `${caller.name} reported that it did not happen.`,
      unknown: `${caller.name} does not know what happened.`,
    });
    if (!isTaken) return refuse('too-late', 'Its outcome is on record already, or people are asked.');
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

  /** Describes a run or an ask for its caller. */
  async look(caller: CallerDeclaration, id: string): Promise<RunView | AskView | undefined> {
    return (await this.#ask(caller, id))?.view ?? (await this.#run(caller, id));
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

  /** Withdraws a run or an ask that has not started; the card says the reason, if there is one. */
  async withdraw(
    caller: CallerDeclaration,
    id: string,
    reason?: string,
  ): Promise<Answered<RunView | AskView>> {
    const { store } = this.#context;
    const look = () => this.look(caller, id);
    const before = await look();
    const threadId = threadOfRun(caller, id);
    if (before === undefined || threadId === undefined) return unknownRequest(caller, id);
    if (before.status === 'withdrawn') return accept(before);
    const isStarted = 'action' in before && before.status === 'running';
    if (isStarted || !OPEN.has(before.status)) return refuse('too-late', `The request is ${before.status}.`);
    const who = callerId(caller.name);
    const evidence = { through: 'door' };
    const withdrawn = { state: 'withdrawn', who, evidence } as const;
    await store.enqueue(threadId, withdrawItem(caller.name), { stops: { who, evidence } });
    for (const requestId of await store.waitingIn(threadId))
      await store.end(requestId, reason === undefined ? withdrawn : { ...withdrawn, reason });
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
    let count = 0;
    for (let from: string | undefined, isMore = true; isMore; ) {
      const { requestIds, next } = await store.list('asked', [who], { limit: LISTED, from });
      for (const id of requestIds) {
        const loaded = await store.load(id);
        // Also what people have approved and the caller has not started.
        if (loaded.outcome !== 'found' || !['pending', 'approved'].includes(loaded.request.state)) continue;
        const ended = await store.end(id, { state: 'withdrawn', who, reason, evidence: { removed: name } });
        count += ended.outcome === 'ended' ? 1 : 0;
      }
      from = next;
      isMore = next !== undefined;
    }
    if (count > 0) logger.info({ caller: name, count }, 'requests of a removed caller withdrawn');
  }

  /** Returns the entry of a tool that a caller may use; built-in tools are for the model, except for plans. */
  #entryFor(caller: CallerDeclaration, tool: string, person?: string): ToolEntry | undefined {
    const entry = this.#context.toolbox.find(tool);
    const isForModel = entry?.source === 'built-in' && tool !== PROPOSE_PLAN;
    if (entry === undefined || isForModel || entry.tool.kind !== 'tool') return undefined;
    return mayCall(caller, tool) && entry.allows(placeOf(caller, person)) ? entry : undefined;
  }

  /** Refuses a plan with a call that the caller may not make, or for which people cannot be asked together. */
  #refusePlan(caller: CallerDeclaration, plan: PlanInput, person?: string): Refused | undefined {
    const other = plan.steps.find(({ tool }) => this.#entryFor(caller, tool, person) === undefined);
    if (other !== undefined)
      return refuse('tool-not-allowed', `"${other.tool}" is not among the tools of ${caller.name}.`);
    const problem = planProblem(this.#context.toolbox, placeOf(caller, person), plan);
    return problem === undefined ? undefined : refuse('unfit', problem);
  }

  async #run(caller: CallerDeclaration, id: string): Promise<RunView | undefined> {
    const found = await findRequest(this.#context.store, caller, id);
    return found === undefined || readAction(found.onRecord) !== undefined ? undefined : found.view;
  }

  async #ask(caller: CallerDeclaration, id: string): Promise<FoundAsk | undefined> {
    const { store, key } = this.#context;
    const found = await findRequest(store, caller, id);
    const action = found && readAction(found.onRecord);
    if (found === undefined || action === undefined) return undefined;
    const open = openAsk(found.onRecord, found.latest);
    const view = askViewOf(found.view, action, open);
    const { latest } = found;
    if (open === undefined || key === undefined) return { view, open, latest };
    const receipt = await signReceipt(receiptOf(caller.name, view, open), key);
    return { open, latest, view: { ...view, receipt } };
  }
}

interface FoundAsk {
  readonly view: AskView;
  readonly open: OpenAsk | undefined;
  readonly latest: RequestRecord | undefined;
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

function jsonOf(value: object): JsonObject {
  return JsonRecord.parse(toJson(value));
}

function mayAsk({ limits, firstDays }: ToolEntry): boolean {
  return limits.length > 0 || firstDays !== undefined;
}

function placeOf({ name, owner, channel }: CallerDeclaration, person = owner) {
  return { requesters: [...new Set([person, owner, callerId(name)])], contextAuthors: [], channel };
}

function describeUnfit({ field, problem }: { readonly field: string; readonly problem: string }): string {
  return field === ''
    ? `The input does not fit: ${problem}`
    : `The input does not fit at "${field}": ${problem}`;
}
