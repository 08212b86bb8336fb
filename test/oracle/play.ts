import { randomUUID } from 'node:crypto';
import { toJson } from '../../src/agent/json.ts';
import type { Model } from '../../src/agent/model.ts';
import { timingFor } from '../../src/bot/context.ts';
import { applyDecision } from '../../src/bot/inbox/decisions/decision.ts';
import { receiveMessage } from '../../src/bot/inbox/receive-message.ts';
import { parseThreadId } from '../../src/bot/slack/thread.ts';
import { executorContext, turnContext } from '../../src/bot/turn-context.ts';
import type { Decision } from '../../src/engine/decision.ts';
import { execute } from '../../src/engine/execute.ts';
import type { Assertion } from '../../src/engine/passkeys.ts';
import { detailsOf } from '../../src/engine/request-details.ts';
import { claimAndRunTurn } from '../../src/engine/turns/run-turn.ts';
import { delegationsIn } from '../../src/store/documents/delegations.ts';
import type { RequestRecord } from '../../src/store/port/request-record.ts';
import type { Store } from '../../src/store/port/store.ts';
import { TOOL } from '../tools/gate/arbitraries.ts';
import {
  type Approval,
  type Composition,
  EVERYBODY,
  manifestOf,
  type OracleCall,
  type Step,
  THREADS,
} from './compositions.ts';
import { Oracle } from './oracle.ts';
import { enrolAll, logProblems, signApproval, signDelegation } from './signers.ts';
import { OTHER_TEAM, OWN_TEAM, type QuietBot, readRules, startQuietBot } from './start-quiet-bot.ts';

/** A thread as the oracle follows it: its people, and the call that was made last. */
interface Followed {
  requesters: readonly string[];
  readonly everyone: Set<string>;
  isKnown: boolean;
  open: Open | undefined;
  /** The requests that have ended. */
  readonly ended: string[];
  last: (Step & { do: 'ask' }) | undefined;
}

/** A call that people were asked about. */
interface Open {
  call: OracleCall;
  request: RequestRecord;
  approvals: Approval[];
  isRejected: boolean;
  isWithdrawn: boolean;
  /** The most effects that it may have. */
  most: number;
  runs: number;
}

/** Nobody is late, however many share the machine. */
const HOUR_MS = 3_600_000;

/** A count of each verdict. */
export type Tally = Record<'denied' | 'free' | 'asked' | 'granted' | 'approved' | 'proven', number>;

/** Plays one composition with the whole bot on a real record; throws where the bot does something else than the oracle says. */
export async function play(
  { rules, standing, members, steps }: Composition,
  store: Store,
  tally: Tally,
): Promise<void> {
  const manifest = readRules(manifestOf(rules));
  if (manifest === undefined) return;
  const oracle = new Oracle({ rules, standing, members });
  const threads = new Map<string, Followed>(
    THREADS.map((id) => [
      id,
      { requesters: [], everyone: new Set(), isKnown: false, open: undefined, ended: [], last: undefined },
    ]),
  );
  const effects: { readonly thread: unknown; readonly input: unknown }[] = [];
  let wanted: unknown;
  let breaks = false;
  const model: Model = {
    name: 'scripted',
    async reply({ history }) {
      const isAsked = history.at(-1)?.role === 'user';
      const calls = isAsked ? [{ id: randomUUID(), name: TOOL, arguments: JSON.stringify(wanted) }] : [];
      return { finish: 'stop', text: isAsked ? '' : 'Done.', calls, usage: undefined };
    },
  };
  let bot = await startQuietBot({
    ...{ store, manifest, people: oracle, model },
    timing: timingFor(HOUR_MS / 1_000),
    around: async (_name, input, { context }) => {
      effects.push({ thread: context.threadId, input });
      if (breaks) throw new Error('The connection was cut after the call');
      return 'done';
    },
  });
  let clock = 10;
  await enrolAll(store, EVERYBODY);

  /** Does what two woken processes would do, until nothing is left to do. */
  const settle = async (thread: string): Promise<RequestRecord | undefined> => {
    await bot.turns.idle(HOUR_MS);
    const [open] = await store.waitingIn(thread);
    if (open !== undefined)
      await Promise.all([execute(executorContext(bot), open), execute(executorContext(bot), open)]);
    await Promise.all([claimAndRunTurn(turnContext(bot), thread), claimAndRunTurn(turnContext(bot), thread)]);
    const [id] = await store.waitingIn(thread);
    const loaded = id === undefined ? undefined : await store.load(id);
    return loaded?.outcome === 'found' ? loaded.request : undefined;
  };
  const say = (by: string, thread: string, toBot: boolean) => {
    clock += 1;
    const ts = `1700000000.0000${clock}`;
    return receiveMessage(
      bot,
      { thread: parseThreadId(thread), ts, user: by, text: 'act', toBot, mention: false, files: [] },
      undefined,
    );
  };
  const contextOf = ({ requesters, everyone }: Followed) =>
    [...everyone].filter((person) => !requesters.includes(person));

  const ask = async (step: Step & { do: 'ask' }, followed: Followed): Promise<void> => {
    const { by, thread, input } = step;
    const isHeard = oracle.isActive(by) || oracle.standing[by] === 'bot';
    if (isHeard || followed.isKnown) followed.everyone.add(by);
    ({ breaks } = step);
    wanted = input;
    await say(by, thread, true);
    const request = await settle(thread);
    if (!isHeard)
      return check(effects.length === 0 && request === undefined, 'somebody who may not ask was served');
    followed.isKnown = true;
    followed.requesters = [...new Set([...followed.requesters, by])];
    const { channel } = parseThreadId(thread);
    const made = {
      tool: TOOL,
      input,
      requesters: followed.requesters,
      contextAuthors: contextOf(followed),
      channel,
      thread,
    };
    const call = { ...made, first: oracle.firstTimes(made) };
    const verdict = oracle.judge(call);
    const asked = typeof verdict === 'string' ? [] : verdict;
    const grant = asked.length === 0 ? undefined : oracle.grantFor(call, asked);
    // Somebody who stands in for others may have voted for one of them, which leaves no grant.
    const mayLack =
      grant?.isSure === false ||
      asked.length > 1 ||
      grant?.signers.some(({ delegators }) => delegators.length > 0);
    const isUnsure = mayLack && effects.length === 0;
    const mayAsk = call.requesters.every((who) => oracle.isActive(who) || oracle.standing[who] === 'bot');
    const isFree = verdict === 'run' || (grant !== undefined && !isUnsure);
    const runs = isFree && mayAsk && !oracle.isFrozen;
    const asking = grant === undefined ? 'asked' : 'granted';
    tally[verdict === 'deny' ? 'denied' : verdict === 'run' ? 'free' : asking] += 1;
    expectRuns(runs ? 1 : 0, call, 'a call without a click');
    if (runs) {
      if (grant !== undefined) grant.used += 1;
      oracle.count(call);
      if (!breaks) {
        oracle.finish(call);
        followed.requesters = [];
        return;
      }
    }
    if (request === undefined) {
      const [first = ''] = asked;
      const isOpen = asked.length === 1 && mayAsk && !runs && !oracle.isFrozen;
      const isStuck = isOpen && oracle.canBeApproved(first, call);
      return check(!isStuck, 'nobody was asked');
    }
    check(asked.length > 0 || breaks, 'people were asked about a call that runs by itself or is denied');
    followed.open = {
      call,
      request,
      approvals: [],
      isRejected: false,
      isWithdrawn: false,
      most: 1,
      runs: runs ? 1 : 0,
    };
    sameAsShown(followed.open);
  };

  const click = async (step: Step & { do: 'click' | 'edit' }, followed: Followed): Promise<void> => {
    const { thread } = step;
    const { open } = followed;
    const by = (step.do === 'click' && step.apt && aptPerson(open)) || step.by;
    const requestId = step.do === 'click' && step.late ? followed.ended.at(-1) : open?.request.id;
    if (requestId === undefined) return;
    const isLate = requestId !== open?.request.id;
    const isVote = step.do === 'click' && ['approve', 'grant'].includes(step.what);
    const isSignedFor = open?.request.policy.passkey === true;
    const signs = isVote && step.signs && isSignedFor && requestId === open?.request.id;
    const assertion = signs ? await signApproval(bot, requestId, by, step.what === 'grant') : undefined;
    const decision = withAssertion(decisionOf(step, open?.request.attempts ?? 0), assertion);
    const team = oracle.standing[by] === 'foreign' ? OTHER_TEAM : OWN_TEAM;
    const made = { requestId, click: { who: by, id: randomUUID(), team }, decision };
    // The same click arrives twice at once.
    const [notice] = await Promise.all([applyDecision(bot, made), applyDecision(bot, made)]);
    if (open === undefined || isLate) {
      await settle(thread);
      return expectRuns(0, open?.call, 'a late click');
    }
    const before = open.call;
    const verdict = oracle.judge(before);
    const asked = typeof verdict === 'string' ? (before.editedUnder ?? []) : verdict;
    const isKnown = asked.some(
      (name) => oracle.placesOf(name, { ...before, requesters: [], contextAuthors: [] }, by).length > 0,
    );
    if (step.do === 'edit' && notice === undefined) {
      check(
        isKnown || before.requesters.includes(by),
        'somebody edited a call that they neither approve nor asked for',
      );
      const requesters = [...new Set([...before.requesters, by])];
      followed.requesters = requesters;
      followed.everyone.add(by);
      open.approvals = [];
      const edited = {
        ...before,
        input: step.input,
        requesters,
        contextAuthors: contextOf(followed),
        editedUnder: before.editedUnder ?? asked,
      };
      open.call = { ...edited, first: oracle.firstTimes(edited) };
    }
    // A click alone approves nothing where passkeys do.
    const needsKey = asked.some((name) => rules.policies[name]?.passkey === true);
    check(!needsKey || isSignedFor, 'people were asked for no passkey');
    const isFirst =
      isVote && (!isSignedFor || assertion !== undefined) && !open.approvals.some(({ who }) => who === by);
    const isDecided = open.request.state !== 'pending';
    if (isFirst && !open.isRejected && !isDecided)
      open.approvals.push(oracle.approve(before, by, step.what === 'grant'));
    // One who may approve under one of several policies may reject as well.
    const isTaken = isOwn(asked, before, by) || notice === undefined;
    // Once the approval is complete another one, or a rejection, comes too late, also while a freeze holds the call.
    if (step.do === 'click' && step.what === 'reject' && isTaken && !isDecided) open.isRejected = true;
    if (step.do === 'click' && step.what === 'withdraw' && notice === undefined) {
      check(before.requesters.includes(by), 'somebody withdrew what others asked for');
      open.isWithdrawn = true;
    }
    if (step.do === 'click' && step.what === 'run-again' && notice === undefined) {
      check(oracle.isActive(by), 'somebody who is not active said that a call runs again');
      if (open.runs > 0) open.most += 1;
    }
    if (
      asked.every((name) => oracle.isEnough(name, before, open.approvals)) &&
      isFirst &&
      !isDecided &&
      asked.length > 0
    )
      oracle.keepGrant(before, asked, open.approvals);
    await follow(thread, followed, open);
  };

  /** Compares what became of a call that people are asked about with what may and what must become of it. */
  const follow = async (thread: string, followed: Followed, open: Open): Promise<void> => {
    const request = await settle(thread);
    const { call, approvals } = open;
    const verdict = oracle.judge(call);
    const asked = typeof verdict === 'string' ? [] : verdict;
    const isFresh = open.runs === 0;
    const isApproved = asked.length > 0 && asked.every((name) => oracle.isEnough(name, call, approvals));
    const requesters = call.requesters.every((who) => oracle.isActive(who) || oracle.standing[who] === 'bot');
    const may = isFresh
      ? isApproved && !open.isRejected && !open.isWithdrawn && requesters && !oracle.isFrozen
      : open.runs < open.most;
    const delegates = approvals.some(({ who }) =>
      Object.values(oracle.delegations).some(({ to }) => to === who),
    );
    const [only = ''] = asked;
    const must =
      may &&
      isFresh &&
      asked.length === 1 &&
      !delegates &&
      oracle.isEnough(only, call, approvals, { ownOnly: true });
    const found = effects.length;
    if (found > 0 && !may) expectRuns(0, call, 'a call that may not run');
    if (found === 0 && must) expectRuns(1, call, 'a call that was approved');
    if (found > 0) expectRuns(1, call, 'an approved call');
    if (found > 0 && isFresh) oracle.count(call);
    if (found > 0 && !breaks) oracle.finish(call);
    if (found > 0) tally.approved += 1;
    open.runs += found;
    if (request === undefined) {
      followed.ended.push(open.request.id);
      followed.open = undefined;
      const isRefused =
        open.runs === 0 && typeof verdict !== 'string' && !open.isRejected && !open.isWithdrawn && requesters;
      if (!isRefused) followed.requesters = [];
      return;
    }
    if (request.id !== open.request.id) {
      followed.ended.push(open.request.id);
      open.approvals = [];
      open.call = { ...call, first: oracle.firstTimes(call) };
    }
    open.request = request;
    sameAsShown(open);
  };

  /** Finds somebody who may approve what waits, and has not. */
  const aptPerson = (open: Open | undefined) => {
    const verdict = open && oracle.judge(open.call);
    if (open === undefined || verdict === undefined || typeof verdict === 'string') return undefined;
    const isFree = (who: string) => !open.approvals.some((approval) => approval.who === who);
    return EVERYBODY.find(
      (who) => isFree(who) && verdict.some((name) => oracle.placesOf(name, open.call, who).length > 0),
    );
  };
  const isOwn = (asked: readonly string[], call: OracleCall, by: string) =>
    asked.length > 0 && asked.every((name) => oracle.placesOf(name, call, by).length > 0);
  const sameAsShown = ({ call, request }: Open) => {
    const { interrupt, facets } = detailsOf(request);
    const { context: contextAuthors = [] } = facets;
    check(
      same(interrupt.toolRequest.input, call.input),
      `other arguments are shown: ${JSON.stringify(interrupt.toolRequest.input)}`,
    );
    check(
      same([...request.requesters].sort(), [...call.requesters].sort()),
      `other requesters are shown: ${request.requesters}, not ${call.requesters}`,
    );
    check(
      same([...contextAuthors].sort(), [...call.contextAuthors].sort()),
      `other people in the thread are shown: ${contextAuthors}, not ${call.contextAuthors}`,
    );
  };
  const expectRuns = (count: number, call: OracleCall | undefined, what: string) => {
    const found = effects.splice(0);
    check(found.length === count, `${what} ran ${found.length} times, not ${count}`);
    for (const { thread, input } of found)
      check(thread === call?.thread && same(input, call?.input), `${what} ran with ${JSON.stringify(input)}`);
  };
  const check = (isTrue: boolean, problem: string) => {
    if (!isTrue) throw new Error(problem);
  };

  try {
    for (const step of steps) {
      // What the bot has looked up before is 30 seconds old by then.
      bot = { ...bot, directory: bot.directory.fresh() };
      if (step.do === 'standing') oracle.standing[step.of] = step.standing;
      else if (step.do === 'leave')
        oracle.members[step.group] = (oracle.members[step.group] ?? []).filter((id) => id !== step.of);
      else if (step.do === 'delegate') await delegate(bot, oracle, step);
      else if (step.do === 'freeze') {
        oracle.isFrozen = step.on;
        const by = { scope: '*', id: randomUUID(), who: 'U0ADMIN001', reason: '', evidence: {} };
        if (step.on) await store.freeze(by);
        else await store.unfreeze({ ...by, eligible: true, quorum: 1, stillEligible: [] });
        for (const [thread, followed] of threads)
          if (followed.open !== undefined) await follow(thread, followed, followed.open);
      } else {
        const followed = threads.get(step.thread);
        if (followed === undefined) continue;
        if (step.do === 'click' || step.do === 'edit') await click(step, followed);
        else if (followed.open !== undefined) continue;
        else if (step.do === 'ask' || step.do === 'repeat') {
          if (step.do === 'ask') followed.last = step;
          if (followed.last !== undefined) await ask(followed.last, followed);
        } else if (followed.isKnown && !followed.everyone.has(step.by)) {
          await say(step.by, step.thread, false);
          await settle(step.thread);
          followed.everyone.add(step.by);
          expectRuns(0, undefined, 'a remark');
        }
      }
    }
    const { problems, proven } = await logProblems(store);
    check(problems.length === 0, `the log does not prove: ${problems.join(', ')}`);
    tally.proven += proven;
  } finally {
    await bot.turns.idle(HOUR_MS);
    await bot.toolbox.close();
  }
}

async function delegate(
  bot: QuietBot,
  oracle: Oracle,
  { from, to, signs }: Step & { do: 'delegate' },
): Promise<void> {
  const { store } = bot;
  const id = randomUUID();
  if (to === undefined) {
    delete oracle.delegations[from];
    await delegationsIn(store).end({ from, id, who: from, isAdmin: false, evidence: {} });
  } else if (to !== from) {
    oracle.delegations[from] = { to, isSigned: signs };
    const until = Date.now() + 3_600_000;
    await delegationsIn(store).delegate({ from, to, id, until, reason: '', evidence: {} });
    if (signs) await signDelegation(bot, id, from, Object.keys(oracle.rules.policies));
  }
}

function withAssertion(decision: Decision, assertion: Assertion | undefined): Decision {
  return decision.type === 'approve' ? { ...decision, assertion } : decision;
}

function decisionOf(step: Step & { do: 'click' | 'edit' }, tries: number): Decision {
  if (step.do === 'edit') return { type: 'edit', input: toJson(step.input) };
  switch (step.what) {
    case 'approve':
      return { type: 'approve' };
    case 'grant':
      return { type: 'approve', grants: true };
    case 'reject':
      return { type: 'reject', reason: '' };
    case 'withdraw':
      return { type: 'withdraw' };
    case 'run-again':
      return { type: 'resolve', verdict: 'run-again', reason: '', tries };
  }
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
