import type { JsonObject } from '../../../src/agent/json.ts';
import type { Message, ToolPart } from '../../../src/agent/messages.ts';
import type { StoredCheckpoint } from '../../../src/store/port/audit.ts';
import type { Document } from '../../../src/store/port/documents.ts';
import { threadOf } from '../../../src/store/port/keys.ts';
import type {
  NewRequest,
  NewRun,
  NewView,
  RequestState,
  UndoNote,
  UndoStep,
} from '../../../src/store/port/request-record.ts';
import type { Store } from '../../../src/store/port/store.ts';
import type { EffectEnd, InboxItem, KeptFile } from '../../../src/store/port/values.ts';
import type { UsageTotals } from '../../../src/store/port/workspace.ts';
import type { Frozen } from './freezes.ts';

type OutsideTheModel =
  | 'load'
  | 'close'
  | 'claimWorkspace'
  | 'note'
  | 'exportAudit'
  | 'auditEnds'
  | 'trimAudit'
  | 'readCheckpoints'
  | 'listUsage'
  | 'listQuarantined'
  | 'listRunning'
  | 'measure'
  | 'renameUsage'
  | 'lock'
  | 'unlock'
  | 'saveAttempt'
  | 'readAttempt'
  | 'endAttempt'
  | 'keepHomes'
  | 'openHomes';

/** The record's verbs as the model has them: the same words, and the answer at once. */
export type Verbs = {
  readonly [Verb in Exclude<keyof Store, OutsideTheModel>]: (
    ...args: Parameters<Store[Verb]>
  ) => Awaited<ReturnType<Store[Verb]>>;
};

export interface Thread {
  readonly seen: Set<string>;
  readonly log: Message[];
  inbox: InboxItem[];
  /** The calls with effects of the turn that goes on. */
  effects: Map<string, Effect>;
  /** The files that it keeps, by id. */
  readonly files: Map<string, KeptFile>;
  /** The token of the latest turn. */
  token?: string;
  /** The number of turns in a row that failed, and the token of the last. */
  failures?: number;
  /** The number of claims in a row that nobody has ended. */
  claims?: number;
  failed?: string;
  quarantine?: string | undefined;
  quarantinedAt?: number | undefined;
  /** The run whose end came too late last. */
  late?: string;
  /** The requests of the last turn, until the next turn has read what became of them. */
  round: readonly string[];
  lease?: { readonly owner: string; readonly token: string; readonly until: number } | undefined;
  committed?: string;
  /** The token of the turn that somebody wants to stop, and who does. */
  stop?: string;
  stoppers?: readonly string[];
  /** The number of items, from the first on, that the running turn was given. */
  inboxClaimed?: number | undefined;
  /** When somebody has to look at the thread; while a turn goes on, that is when its lease ends. */
  wakeAt?: number | undefined;
  retireAt?: number | undefined;
}

export interface Effect {
  readonly state: 'started' | 'paused' | 'finished';
  /** How it ended, once it has. */
  readonly end?: EffectEnd;
  readonly tool: string;
  readonly run: string;
  readonly runs: number;
  readonly firstStart: number;
  readonly part?: ToolPart;
}

export interface Request {
  readonly asked: NewRequest | NewRun;
  readonly createdAt: number;
  readonly votes: Map<
    string,
    {
      readonly decision: 'approve' | 'reject';
      readonly at: number;
      /** The approver groups that the person voted for; only where the policy has groups. */
      readonly groups?: readonly number[];
      /** The approver in whose place the person voted. */
      readonly standsFor?: string;
      readonly grants?: true;
      /** The words of the person. */
      readonly reason?: string;
    }
  >;
  readonly refused: Map<string, { readonly click: string; readonly times: number }>;
  readonly late: Set<string>;
  readonly drawn: Map<string, { readonly revision: number; readonly postedAt: JsonObject }>;
  state: RequestState;
  /** When it entered its state. */
  since: number;
  revision: number;
  principals: readonly string[];
  views: readonly NewView[];
  attempts: number;
  attempt?: string | undefined;
  progress?: string;
  by?: string;
  payload?: string;
  verdict?: string | undefined;
  firstStart?: number;
  startedAt?: number;
  /** When people last decided that it runs. */
  decidedAt?: number;
  /** Whether the whole quorum allows the same again. */
  granted?: boolean;
  remindAt?: number | undefined;
  escalateAt?: number | undefined;
  recoverAt?: number;
  /** When it became unknown, until its resolvers are asked. */
  askAt?: number | undefined;
  /** The name under which its limits count it. */
  action?: string | undefined;
  done?: NewRequest['done'];
  /** The freeze that held it last. */
  held?: string;
  redrawnFor?: string;
  /** The last step of its undo, and until when it is offered. */
  undo?: { readonly step: UndoStep; readonly note: UndoNote; readonly until: number | undefined };
  runAt?: number | undefined;
  /** Whether the Run of a step waits for its plan. */
  isWaiting?: boolean;
  purgeAt?: number;
  /** When a Run that no thread made has ended, until somebody has seen to it; and the one that took its place. */
  endedAt?: number | undefined;
  again?: string;
}

/** The tokens that were spent, and the last call of each thread with its answer. */
export interface Spent {
  readonly tokens: Map<string, number>;
  readonly last: Map<string, { readonly callId: string; readonly totals: UsageTotals }>;
}

/** Something to be sent: a row, or (without one) a card to be drawn anew. */
export interface Outgoing {
  at: number;
  claim?: string | undefined;
  /** The number of failed attempts to send it. */
  tries: number;
  readonly row?: JsonObject;
  /** When it was due first, once somebody has claimed it. */
  since?: number | undefined;
}

/** A grant, and the calls that have taken a use of it. */
export interface Granted {
  readonly id: string;
  readonly uses: number;
  readonly expiresAt: number;
  readonly details: JsonObject;
  readonly calls: Set<string>;
  revokedBy?: string;
}

/** A digest: when cards of requests were sent, and the requests that are on it. */
export interface Summarized {
  revision: number;
  drawn: number;
  number: number;
  place: JsonObject | undefined;
  postedAt: number;
  postedRevision: number;
  readonly cards: Map<string, number>;
  /** The revision of the summary with which a request came, and the revision of the request. */
  readonly on: Map<string, { readonly since: number; readonly known: number }>;
}

/** The amount that an action counts for a limit, and in which slice of time. */
export interface Counted {
  readonly slice: number;
  readonly amount: number;
}

/** The table of freezes, with who wants to end them, and the click that ended the last of each scope. */
export interface Table {
  readonly freezes: Map<string, Frozen>;
  readonly votes: Map<string, readonly string[]>;
  readonly ended: Map<string, string>;
}

/** All that there is; the time, and who calls, are set from outside before every call. */
export class World {
  now = 0;
  caller = '';
  readonly keepMs: number;
  readonly checkpoints: StoredCheckpoint[] = [];
  readonly table: Table = { freezes: new Map(), votes: new Map(), ended: new Map() };
  readonly summaries = new Map<string, Summarized>();
  readonly grants = new Map<string, Granted>();
  /** The actions that count against each limit. */
  readonly limits = new Map<string, Map<string, Counted>>();
  readonly usage: Spent = { tokens: new Map(), last: new Map() };
  readonly documents = new Map<string, Document>();
  tokens = 0;
  /** The thread that runs alone because its claims ended with their processes. */
  suspect?: { readonly threadId: string; readonly until: number } | undefined;
  readonly threads = new Map<string, Thread>();
  readonly requests = new Map<string, Request>();
  readonly outbox = new Map<string, Outgoing>();
  /** The rows that were sent. */
  readonly sent = new Set<string>();
  readonly audited: string[] = [];
  /** When the cards have to show a freeze or its end, by the id of either. */
  readonly toShow = new Map<string, number>();
  /** The plans that may go on after the verb. */
  readonly #moved = new Set<string>();

  constructor(keepMs: number) {
    this.keepMs = keepMs;
  }

  thread(threadId: string): Thread | undefined {
    return this.threads.get(threadId);
  }

  request(requestId: string): Request | undefined {
    return this.requests.get(requestId);
  }

  threadOf({ asked }: Request): Thread | undefined {
    return this.thread(threadOf(asked.id) ?? '');
  }

  /** The pending requests of a thread; a turn begins only when there are none. */
  open(thread: Thread | undefined): number {
    const round = (thread?.round ?? []).map((id) => this.request(id));
    return round.filter((request) => request !== undefined && !isSettled(request)).length;
  }

  auditThread(threadId: string, event: string, detail: string): void {
    this.audited.push([this.now, event, threadId, detail].join(' '));
  }

  audit({ asked }: Request, event: string, detail = ''): void {
    this.audited.push([this.now, event, asked.id, detail].join(' '));
  }

  /** A row that waits already, or was sent, stays as it is. With a lease it is claimed by the caller at once. */
  send({ id, body }: { readonly id: string; readonly body: JsonObject }, leaseMs?: number): void {
    const { outbox, sent } = this;
    const item = `row|${id}`;
    if (outbox.has(item) || sent.has(item)) return;
    const claim = leaseMs === undefined ? undefined : this.caller;
    const since = leaseMs === undefined ? undefined : this.now;
    outbox.set(item, { at: this.now + (leaseMs ?? 0), claim, tries: 0, row: body, since });
  }

  /** The card is due at every place, or at the first ones; a place that is due already, or is being drawn, stays as it is. */
  draw({ asked, views }: Request, places = views.length): void {
    const { outbox } = this;
    for (const { id } of views.slice(0, places)) {
      const item = `view|${asked.id}|${id}`;
      if (!outbox.has(item)) outbox.set(item, { at: this.now, tries: 0 });
    }
  }

  redraw(request: Request): void {
    request.revision += 1;
    this.draw(request);
    const plan = this.request(request.asked.step?.plan ?? '');
    if (plan !== undefined) this.redraw(plan);
  }

  moves(planId: string): void {
    this.#moved.add(planId);
  }

  /** Lets plans go on after a verb, until nothing more follows. */
  followPlans(): void {
    for (const planId of this.#moved) {
      this.#moved.delete(planId);
      const plan = this.request(planId);
      if (plan !== undefined) this.#movePlan(plan);
    }
  }

  /** The next step of a plan is ready when those before it ran; when one did not, or the plan has ended, what waits ends. */
  #movePlan(plan: Request): void {
    const steps = (plan.asked.steps ?? []).flatMap(({ id }) => this.request(id) ?? []);
    const isOpen = plan.state === 'pending' || plan.state === 'approved';
    const left = steps.filter((step) => !isDone(step));
    const end = (request: Request, state: RequestState, by = '', payload = '', detail = '') => {
      this.settle(request, state, by, payload);
      this.audit(request, state, detail);
    };
    if (!isOpen || left.some(isSettled)) {
      const isOwn = !isOpen && plan.state !== 'superseded';
      const [state, by, payload] = isOwn
        ? ([plan.state, plan.by, plan.payload] as const)
        : (['superseded', '', 'held'] as const);
      const waits = (step: Request) => ['pending', 'approved'].includes(step.state) && step.attempts === 0;
      const isBusy = left.some((step) => !isSettled(step) && !waits(step));
      for (const step of left.filter(waits)) end(step, state, by, payload, `plan ${step.asked.step?.number}`);
      if (isOpen && !isBusy) end(plan, 'superseded', '', 'held', 'held');
      return;
    }
    const [next] = left;
    if (plan.state === 'approved' && next === undefined) end(plan, 'succeeded', plan.by);
    if (plan.state !== 'approved' || next?.isWaiting !== true) return;
    if (isCovered(next)) {
      this.enter(next, 'approved');
      next.by = plan.by ?? '';
      this.audit(next, 'approved', `plan ${next.asked.step?.number}`);
    }
    if (next.state !== 'approved') return;
    next.isWaiting = false;
    next.runAt = this.now;
  }

  /** Adds the places that the card does not have yet, and gives their number. */
  addViews(request: Request, views: readonly NewView[]): number {
    const added = views.filter(({ id }) => !request.views.some((view) => view.id === id));
    request.views = [...request.views, ...added];
    this.draw({ ...request, views: added });
    return added.length;
  }

  enter(request: Request, state: RequestState): void {
    request.state = state;
    request.since = this.now;
    request.runAt = undefined;
    this.redraw(request);
  }

  /** Nobody knows what the last attempt did; the reason says why there is no further one. */
  askPeople(request: Request, reason: string): void {
    request.verdict = undefined;
    request.payload = reason;
    request.askAt = this.now;
    this.enter(request, 'unknown');
  }

  /** Nobody is needed for the request any more; the last one of its round wakes the thread. */
  settle(request: Request, state: RequestState, by = '', payload = ''): void {
    const thread = this.threadOf(request);
    const { id, step, steps } = request.asked;
    this.enter(request, state);
    const purgeAt = step === undefined ? this.now + this.keepMs : undefined;
    Object.assign(request, { by, payload, purgeAt });
    if (steps !== undefined || step !== undefined) this.moves(step?.plan ?? id);
    if ('from' in request.asked) request.endedAt = this.now;
    else if (thread !== undefined && this.open(thread) === 0) thread.wakeAt = this.now;
  }
}

export function isSettled({ state }: Request): boolean {
  return !['pending', 'approved', 'started', 'unknown'].includes(state);
}

/** Tells whether a plan covers the request, so that nobody is asked about it by itself. */
export function isCovered({ asked }: Pick<Request, 'asked'>): boolean {
  return asked.step?.alone === false;
}

/** Tells whether a step lets the next one go on: it ran. */
function isDone({ state, payload = '' }: Request): boolean {
  return state === 'succeeded' || (state === 'resolved' && payload.startsWith('ran\n'));
}

export function expiryOf({ createdAt, asked }: Request): number {
  return createdAt + asked.policy.expiresInMs;
}

export function votesFor({ votes }: Request, decision: 'approve' | 'reject'): number {
  return [...votes.values()].filter((cast) => cast.decision === decision).length;
}

/** The answer to a late decision. */
export function settled({ state, by = '' }: Request) {
  return { outcome: 'settled', state, by } as const;
}

export const UNKNOWN = { outcome: 'unknown' } as const;
