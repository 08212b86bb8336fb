import type { JsonObject } from '../../../src/agent/json.ts';
import { requestIdOf, threadOf } from '../../../src/store/port/keys.ts';
import {
  type NewRequest,
  type NewView,
  type RequestState,
  SettledState,
} from '../../../src/store/port/request-record.ts';
import type { Store } from '../../../src/store/port/store.ts';
import type { ClaimedTurn, OutboxItem, Vote } from '../../../src/store/port/values.ts';
import type { GrantUse, LimitUse } from '../../../src/store/port/workspace.ts';
import type { Verbs, World } from '../model/world.ts';
import { effectPart, message, resultMessage } from '../support.ts';
import { type Command, type RequestPlan, TOOLS } from './commands.ts';

/** One call with all that it carries, to be made on the store and on the model alike, and made again later. */
export interface Call {
  readonly verb: string;
  readonly args: readonly unknown[];
  readonly on: (record: Store | Verbs) => unknown;
}

/** The ids that a sequence has seen so far. */
export interface Findings {
  readonly world: World;
  readonly calls: Call[];
  readonly turns: ClaimedTurn[];
  readonly items: OutboxItem[];
  readonly requests: string[];
  readonly attempts: string[];
  /** The cursors of further pages. */
  readonly pages: string[];
  /** The number of the command: what it brings in is named by it. */
  step: number;
}

/** Longer than a sequence takes, because Redis forgets a limit by its own clock. */
const WINDOW_MS = 1_000_000;

interface Limited {
  readonly limitKeys: readonly string[];
  readonly amount: number;
  readonly max: number | undefined;
}

/** The limits of a call. */
function usesFor({ limitKeys, amount, max }: Limited): LimitUse[] {
  return limitKeys.map((key) => ({ key, amount, max, windowMs: WINDOW_MS }));
}

/** What every success counts. */
const DONE = [{ key: 'done', windowMs: WINDOW_MS }];

/** The use of a grant; another call every third time. */
function grantFor(
  world: World,
  { grant }: { readonly grant: string | undefined },
  step: number,
): GrantUse | undefined {
  return grant === undefined
    ? undefined
    : { id: grantNamed(world, grant), call: `call-${step % 3}`, evidence: { step } };
}

/** The id of a grant: `g-1` is the one that was opened last, `g-2` the one before it. */
function grantNamed(world: World, name: string): string {
  return [...world.grants.keys()].at(-Number(name.slice(2))) ?? name;
}

/** The grant that a person allows with a vote; each request has one. */
function offerFor(
  { grants, pick }: { readonly grants: boolean; readonly pick: number },
  requestId: string,
  step: number,
): Pick<Vote, 'grants'> {
  const [uses, forMs] = [1 + (pick % 2), pick % 3 === 1 ? 5_000 : 1_000_000];
  return grants ? { grants: { id: `g-${requestId}`, uses, forMs, details: { step } } } : {};
}

/** One approval of the person in the window, where there is a limit of them. */
function rateFor({ who, isRare }: { readonly who: string; readonly isRare: boolean }): Pick<Vote, 'rates'> {
  return isRare ? { rates: [{ key: `approvals/${who}`, max: 1, windowMs: WINDOW_MS }] } : {};
}

/** The tool of a call; a freeze is about one of them, or all. */
function toolAt(pick: number): string {
  return TOOLS[pick % TOOLS.length] ?? '';
}

const OPEN: readonly RequestState[] = ['pending'];
const UNKNOWN: readonly RequestState[] = ['unknown'];
const NAMELESS = 'no-request';

/** Turns a command into the call that it stands for now; without anything it could be about there is none. */
export function callFor(command: Command, found: Findings): Call | undefined {
  const { world, step } = found;
  const evidence = { click: step };
  // Some rows bring an id that another has had.
  const row = { id: step % 3 === 0 ? `told-${step % 5}` : `row-${step}`, body: { text: `row ${step}` } };
  switch (command.verb) {
    case 'again':
      return found.calls[command.pick % found.calls.length];
    case 'enqueue': {
      const { thread, item, onlyKnown, stopper } = command;
      const said = { id: `item-${item}`, body: { text: `item ${item}` } };
      const stops = stopper === undefined ? {} : { stops: { who: stopper, evidence } };
      return call('enqueue', thread, said, { onlyKnown, ...atWork(item), ...stops });
    }
    case 'claimTurn':
      return call('claimTurn', command.thread, command.leaseMs);
    case 'enqueueAndClaim': {
      const { thread, item, onlyKnown, leaseMs } = command;
      const said = { id: `item-${item}`, body: { text: `item ${item}` } };
      return call('enqueue', thread, said, { onlyKnown, leaseMs, ...atWork(item) });
    }
    case 'renewLease':
      return about(recent(found.turns, command.pick), (turn) => call('renewLease', turn, command.leaseMs));
    case 'failTurn':
      return about(recent(found.turns, command.pick), (turn) =>
        call('release', turn, {
          mostFailures: command.mostFailures,
          delayMs: 1_000,
          reason: `failed ${step}`,
          notices: [row],
        }),
      );
    case 'unquarantine':
      return call('unquarantine', command.thread, evidence);
    case 'release':
      return about(recent(found.turns, command.pick), (turn) => call('release', turn));
    case 'startEffect':
      return about(recent(found.turns, command.pick), (turn) =>
        call('startEffect', turn, {
          ref: command.ref,
          tool: toolAt(command.pick),
          run: `run-${step}`,
          logged: command.logged ? (world.thread(turn.threadId)?.log.length ?? 0) : turn.messages.length,
          messages: [message(`before ${step}`)],
          read: command.read ? 1 : 0,
          evidence,
          limits: usesFor(command),
          grant: grantFor(world, command, step),
        }),
      );
    case 'finishEffect':
      return about(recent(found.turns, command.pick), (turn) => {
        const run = world.thread(turn.threadId)?.effects.get(command.ref)?.run;
        return call('finishEffect', turn, {
          ref: command.ref,
          run: (command.same ? run : undefined) ?? `run-${step}`,
          end: command.end,
          part: effectPart(command.ref),
          evidence,
          done: DONE,
        });
      });
    case 'stop':
      return call('stop', command.thread, { who: command.who, evidence });
    case 'waitingIn':
      return call('waitingIn', command.thread);
    case 'readThread':
      return call('readThread', command.thread);
    case 'keepFile': {
      const bytes = Buffer.alloc(command.size, `file ${command.file}`);
      return call('writeFile', command.thread, `file-${command.file}`, { type: 'text/plain', bytes });
    }
    case 'readFiles':
      return call('readFiles', command.thread, ['file-1', 'file-2', 'file-3']);
    case 'dropFile':
      return call('writeFile', command.thread, `file-${command.file}`, undefined);
    case 'suspend':
      return about(recent(found.turns, command.pick), (turn) => {
        const known = found.requests.find((id) => threadOf(id) === turn.threadId);
        const all = command.requests.map((plan, at) => requestFrom(plan, turn.threadId, `${step}-${at}`));
        const planned = command.isPlan ? asPlan(all, command.requests) : all;
        const requests = planned.map((request, at) => {
          if (command.isPlan) return request;
          return command.fresh || known === undefined || at > 0 ? request : { ...request, id: known };
        });
        found.requests.push(...requests.map(({ id }) => id).filter((id) => id !== known));
        return call('suspend', turn, {
          messages: [message(`turn ${step}`)],
          read: command.readAll ? turn.inbox.length : 0,
          requests,
          rows: command.row ? [row] : [],
        });
      });
    case 'open': {
      const { pick, plan, isAgain } = command;
      const { unsigned: _, ...asked } = requestFrom({ ...plan, kind: 'approval' }, 'C2', `${step}`);
      const ended = request(found, pick, SettledState.options);
      const former = isAgain && ended !== NAMELESS ? ended : undefined;
      found.requests.push(asked.id);
      return call('open', { ...asked, from: 'manifest' }, former);
    }
    case 'vote': {
      const { who, decision, shown, eligible, groups, standsFor } = command;
      const id = request(found, command.pick, OPEN);
      const vote = {
        who,
        ...(standsFor !== undefined && { standsFor }),
        groups,
        ...offerFor(command, id, step),
        decision,
        eligible,
        evidence,
        shown: shown ? 'digest' : 'other',
        reason: `no ${step}`,
        ...rateFor(command),
      };
      return call('vote', id, vote);
    }
    case 'answer': {
      const { who, eligible, value } = command;
      return call('answer', request(found, command.pick, OPEN), { who, eligible, evidence }, value);
    }
    case 'end': {
      const id = request(found, command.pick, ['pending', 'approved']);
      const { state } = command;
      if (state !== 'withdrawn')
        return call('end', id, state === 'expired' ? { state } : { state, reason: `ended ${step}` });
      const { own, isOperator } = command;
      const who = own ? (world.request(id)?.asked.requesters?.at(-1) ?? command.who) : command.who;
      return call('end', id, { state, who, evidence, isOperator, reason: `ended ${step % 2}` });
    }
    case 'start': {
      const { same, heartbeatTimeoutMs, still, people, pick, moved, isCaller } = command;
      const picked = request(found, pick, ['approved']);
      const steps = world.request(picked)?.asked.steps;
      // A plan itself never starts: its steps do.
      const id = (pick % 7 > 0 && steps?.[pick % steps.length]?.id) || picked;
      const votes = [...(world.request(picked)?.votes ?? [])];
      const attempt = pick % 5 === 0 ? (recent(found.attempts, pick) ?? `try-${step}`) : `try-${step}`;
      const signed = votes.map(([who]) => who);
      found.attempts.push(attempt);
      return call('start', id, {
        ...{ attempt, tool: toolAt(pick), heartbeatTimeoutMs, evidence },
        digest: same ? 'digest' : 'other',
        // Whoever lists somebody twice has not found a second person.
        stillEligible: still ? signed : [...people, ...people],
        groups: Object.fromEntries(votes.map(([who, { groups = [] }]) => [who, moved ? [1] : groups])),
        counts: { action: `${threadOf(id)}/call-1`, limits: usesFor(command) },
        done: pick % 4 === 3 ? [] : DONE,
        ...(isCaller && { elsewhere: true as const }),
      });
    }
    case 'voteAndStart': {
      const { who, decision, same, still, heartbeatTimeoutMs, pick, groups, standsFor } = command;
      const id = request(found, pick, OPEN);
      const attempt = `try-${step}`;
      const signed = [...(world.request(id)?.votes.keys() ?? []), who];
      found.attempts.push(attempt);
      const vote = {
        who,
        ...(standsFor !== undefined && { standsFor }),
        decision,
        eligible: true,
        evidence,
        shown: 'digest',
        reason: `no ${step}`,
        groups,
        ...offerFor(command, id, step),
      };
      const others = [...(world.request(id)?.votes ?? [])].map(
        ([person, { groups: own = [] }]) => [person, own] as const,
      );
      if (world.request(id)?.asked.steps !== undefined) return call('vote', id, vote);
      return call('vote', id, vote, {
        ...{ attempt, tool: toolAt(pick), heartbeatTimeoutMs, evidence },
        digest: same ? 'digest' : 'other',
        stillEligible: still ? signed : [],
        groups: { ...Object.fromEntries(others), [who]: groups },
        counts: { action: `${threadOf(id)}/call-1`, limits: usesFor(command) },
        done: DONE,
      });
    }
    case 'finishAndClaim': {
      const id = request(found, command.pick, ['started', 'unknown']);
      const attempt = attemptOf(found, id, command.pick);
      const outcome = { attempt, state: command.state, message: resultMessage(), summary: step };
      return call('finish', id, outcome, command.leaseMs);
    }
    case 'heartbeat': {
      const id = request(found, command.pick, ['started']);
      return call(
        'heartbeat',
        id,
        attemptOf(found, id, command.pick),
        command.heartbeatTimeoutMs,
        command.progress,
      );
    }
    case 'finish': {
      const id = request(found, command.pick, ['started', 'unknown']);
      const attempt = attemptOf(found, id, command.pick);
      return call('finish', id, { attempt, state: command.state, message: resultMessage(), summary: step });
    }
    case 'goOn': {
      const { pick, state, own, step: words } = command;
      const id = request(found, pick, ['paused']);
      const home = own ? found.turns.findLast(({ threadId }) => threadId === threadOf(id)) : undefined;
      return about(home ?? recent(found.turns, pick), (turn) =>
        call('finish', id, {
          turn,
          ...(state === 'superseded' ? { state, reason: `${words}` } : { state, summary: words }),
        }),
      );
    }
    case 'resolve': {
      const { who, eligible, verdict } = command;
      const id = request(found, command.pick, ['unknown']);
      return call('resolve', id, { who, eligible, evidence }, verdict, `reason ${step}`, command.tries);
    }
    case 'notify': {
      const { timer, behind, quietMs } = command;
      const fitting = { remind: OPEN, escalate: OPEN, recover: UNKNOWN, ended: SettledState.options }[timer];
      const id = request(found, command.pick, fitting);
      const revision = (world.request(id)?.revision ?? 1) - behind;
      return call('notify', id, timer, {
        ...{ row, views: placesOf(command.views, step) },
        ...(timer === 'recover' && { revision }),
        ...(timer === 'remind' && quietMs !== undefined && { quietUntil: world.now + quietMs }),
      });
    }
    case 'recover':
      return call('recover', request(found, command.pick, ['started']));
    case 'purge':
      return call('purge', request(found, command.pick, SettledState.options));
    case 'retire':
      return call('retire', command.thread);
    case 'enqueueOutbox':
      return call('enqueueOutbox', command.thread, { id: `told-${command.row}`, body: { text: 'told' } });
    case 'holdOutbox': {
      const held = { id: `told-${command.row}`, body: { text: `held ${step}` } };
      return call('enqueueOutbox', command.thread, held, command.leaseMs);
    }
    case 'claimOutbox':
      return call('claimOutbox', { leaseMs: command.leaseMs, limit: command.limit });
    case 'doneOutbox':
      return about(recent(found.items, command.pick), (item) => {
        if (item.kind === 'row' || item.kind === 'home') return call('done', item);
        if (item.kind === 'summary') {
          const { revision = 1, number = 0, on } = world.summaries.get(item.person) ?? {};
          return call('done', item, {
            revision: revision - command.behind,
            postedAt: { ts: `${step}` },
            number: number + (step % 2),
            gone: [...(on?.keys() ?? [])].slice(0, step % 3),
            againMs: command.againMs,
          });
        }
        const revision = world.request(item.requestId)?.revision ?? 1;
        return call('done', item, {
          revision: revision - command.behind,
          postedAt: { ts: `${step}` },
          againMs: command.againMs,
        });
      });
    case 'retryOutbox':
      return about(recent(found.items, command.pick), (item) =>
        call('retryOutbox', item, command.delayMs, { isUnsent: command.isUnsent }),
      );
    case 'revokeGrant':
      return call('revokeGrant', grantNamed(world, command.grant), {
        ...{ who: command.who, eligible: command.eligible, evidence },
        erases: step % 4 === 0,
      });
    case 'listGrants':
      return call('listGrants');
    case 'countCall':
      return call('countCall', command.thread, {
        ref: command.ref,
        limits: usesFor(command),
        grant: grantFor(world, command, step),
      });
    case 'readTotals':
      return call('readTotals', [...DONE, ...command.limitKeys.map((key) => ({ key, windowMs: WINDOW_MS }))]);
    case 'delegate':
    case 'endDelegation': {
      const { version = '', value = '' } = world.documents.get('delegations|table') ?? {};
      const others = value.split('\n').filter((line) => line !== '' && !line.startsWith(`${command.who} `));
      const line = (to: string, far: number) => `${command.who} ${to} ${world.now + far} 1 d-${step} ""`;
      const lines = command.verb === 'delegate' ? [...others, line(command.to, command.far)] : others;
      const document = { version: `d-${step}`, value: lines.join('\n') };
      return call('writeDocument', 'delegations', 'table', document, { replaces: version });
    }
    case 'tell': {
      const limit = { after: command.after, withinMs: command.withinMs };
      const told = { id: `${command.thread}~${command.listed}`, revision: step };
      return call('tell', command.thread, told, command.delayMs, limit);
    }
    case 'listInDigest': {
      const told = { id: `${command.thread}~${command.listed}`, revision: step };
      return call('tell', command.thread, told, command.delayMs);
    }
    case 'readSummary':
      return call('readSummary', command.thread);
    case 'freeze': {
      const { scope, who } = command;
      return call('freeze', { scope, id: `freeze-${step}`, who, reason: `because ${step}`, evidence });
    }
    case 'unfreeze': {
      const { scope, who, eligible, quorum, still, known } = command;
      const shown = known === undefined ? undefined : known ? world.table.freezes.get(scope)?.id : 'freeze-0';
      return call('unfreeze', {
        ...{ scope, shown, id: `click-${step}`, who, eligible, quorum, evidence, reason: '' },
        stillEligible: still ? (world.table.votes.get(scope) ?? []) : [],
      });
    }
    case 'readFreezes':
      return call('readFreezes');
    case 'showFreeze':
      return call('showFreeze', [...world.toShow.keys()][0] ?? 'none');
    case 'redraw': {
      const { pick, views } = command;
      const id = request(found, pick, views.length > 0 ? ['pending', 'unknown'] : ['pending', 'approved']);
      return call('redraw', id, { cause: ['', 'one', 'two'][pick % 3] ?? '', views: placesOf(views, step) });
    }
    case 'offerUndo':
      return call('noteUndo', request(found, command.pick, ['succeeded']), 'offered', {}, command.withinMs);
    case 'noteUndo':
      return call('noteUndo', request(found, command.pick, ['succeeded']), command.step, {
        by: command.who,
        at: step,
      });
    case 'due':
      return call('due', { overdueMs: command.overdueMs, limit: command.limit });
    case 'spend': {
      const usage = { inputTokens: command.tokens, outputTokens: 1, totalTokens: command.tokens + 1 };
      const { thread: threadId, who: person } = command;
      const spending = { callId: `call-${step}`, threadId, person, channel: 'C1', model: 'm', usage };
      return call('spend', spending);
    }
    case 'writeDocument': {
      const { thread, who, isRemoved } = command;
      const document = isRemoved ? undefined : { version: `v-${step}`, value: `value ${step}\nof two lines` };
      const replaces = versionFor(command, world);
      const audit = { event: 'document-changed', subject: `document:${who}`, detail: who, body: {} };
      return call('writeDocument', thread, who, document, {
        ...(replaces !== undefined && { replaces }),
        ...(step % 2 === 0 && { audit }),
      });
    }
    case 'readDocument':
      return call('readDocument', command.thread, command.who);
    case 'listDocuments':
      return call('listDocuments', command.thread);
    case 'usageOf':
      return call('usageOf', command.thread, command.who);
    case 'claimExport':
      return call('writeDocument', 'lock', 'export', { version: command.who, value: '' }, { replaces: '' });
    case 'releaseExport':
      return call('writeDocument', 'lock', 'export', undefined, { replaces: command.who });
    case 'appendCheckpoint': {
      const { n, hash } = world.checkpoints.at(-1) ?? { n: 0, hash: '' };
      const next = { n: n + 1, hash: `hash-${step}`, previous: hash, text: `checkpoint ${step}` };
      const other = step % 2 === 0 ? { n: n + 2 } : { previous: 'other' };
      return call('appendCheckpoint', exporter(world, command), command.next ? next : { ...next, ...other });
    }
    case 'list': {
      const { who, people, limit, next } = command;
      const name = (['waiting', 'asked', 'decided'] as const)[step % 4] ?? 'pending';
      const page = { limit, from: next ? found.pages.at(-1) : undefined };
      return call('list', name, name === 'waiting' ? people : [who], page);
    }
    case 'wait':
    case 'compare':
      return undefined;
  }
}

/** Most often the process that holds the lease. */
function exporter(
  { documents }: World,
  { who, own }: { readonly who: string; readonly own: boolean },
): string {
  return own ? (documents.get('lock|export')?.version ?? who) : who;
}

function call<Verb extends keyof Verbs>(verb: Verb, ...args: Parameters<Store[Verb]>): Call {
  return { verb, args, on: (record) => Reflect.apply(record[verb], record, args) };
}

/** The version that a change of a document names: none, that there is none, the present one, or another. */
function versionFor(
  { thread, who, pick }: Extract<Command, { verb: 'writeDocument' }>,
  { documents }: World,
): string | undefined {
  return [undefined, '', documents.get(`${thread}|${who}`)?.version, 'another'][pick];
}

function about<Thing>(thing: Thing | undefined, make: (thing: Thing) => Call): Call | undefined {
  return thing === undefined ? undefined : make(thing);
}

/** Most often the latest, else any that ever was. */
function recent<Thing>(things: readonly Thing[], pick: number): Thing | undefined {
  return pick % 10 < 6 ? (things.at(-1 - (pick % 3)) ?? things.at(-1)) : things[pick % things.length];
}

/** Most often a request to which the actor fits, else any, sometimes one that never was. */
function request({ world, requests }: Findings, pick: number, states: readonly RequestState[]): string {
  if (pick % 40 === 0) return NAMELESS;
  const fitting = requests.filter((id) => states.includes(world.request(id)?.state ?? 'expired'));
  const choice = pick % 4 === 0 || fitting.length === 0 ? requests : fitting;
  return choice[pick % choice.length] ?? NAMELESS;
}

function attemptOf(found: Findings, requestId: string, pick: number): string {
  const current = found.world.request(requestId)?.attempt;
  return (pick % 4 === 0 ? recent(found.attempts, pick) : current) ?? 'try-none';
}

/** The places of cards, each time others. */
function placesOf(views: readonly string[], step: number): NewView[] {
  return views.map((id) => ({ id, place: { channel: `C${step}` } }));
}

/** Every other item is another one while the thread is at work. */
function atWork(item: number): { readonly bodyAtWork?: JsonObject } {
  return item % 2 === 0 ? {} : { bodyAtWork: { text: `item ${item} at work` } };
}

function withGroups({ policy, groups }: RequestPlan): NewRequest['policy'] {
  if (groups === undefined) return policy;
  return {
    ...policy,
    quorum: groups.reduce((sum, quorum) => sum + quorum, 0),
    groups: groups.map((quorum) => ({ any: policy.principals, quorum })),
  };
}

/** Makes a plan of the first request, whose steps are the others. */
function asPlan(all: readonly NewRequest[], drawn: readonly RequestPlan[]): readonly NewRequest[] {
  const [first, ...others] = all;
  if (first === undefined || others.length === 0) return all;
  const { requester, requesters = [requester], barred = [], policy } = first;
  const isAlone = (index: number) => drawn[index + 1]?.alone === true;
  const approval = { kind: 'approval' as const, unsigned: false, requester, requesters, barred, policy };
  const plain = ({ execution: { elsewhere: _, ...execution }, ...request }: NewRequest) => ({
    ...{ ...request, ...approval, execution },
  });
  const steps = others.map(({ id, digest }, index) => ({
    ...{ id, digest },
    ...(isAlone(index) && { alone: true as const }),
  }));
  return [
    { ...plain(first), steps },
    ...others.map((request, index) => ({
      ...plain(request),
      step: { plan: first.id, number: index + 1, alone: isAlone(index) },
    })),
  ];
}

function requestFrom(plan: RequestPlan, threadId: string, name: string): NewRequest {
  const { kind, requester, others, barred, views, idempotent, maxAttempts, retryForMs, elsewhere, unsigned } =
    plan;
  const policy = { ...withGroups(plan), ...(plan.delegation && { delegation: true as const }) };
  return {
    ...{ id: requestIdOf(threadId, name), kind, requester, digest: 'digest', policy, barred, unsigned },
    requesters: [requester, ...others.filter((person) => person !== requester)],
    ...(unsigned && { done: DONE }),
    details: { tool: 'refund_order' },
    execution: { idempotent, maxAttempts, retryForMs, ...(elsewhere && { elsewhere: true as const }) },
    views: views.map((id) => ({ id, place: { channel: threadOf(requestIdOf(threadId, name)) ?? '' } })),
  };
}
