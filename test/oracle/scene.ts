import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/agent/json.ts';
import { applyDecision } from '../../src/bot/inbox/decisions/decision.ts';
import { receiveMessage } from '../../src/bot/inbox/receive-message.ts';
import { parseThreadId } from '../../src/bot/slack/thread.ts';
import { executorContext, turnContext } from '../../src/bot/turn-context.ts';
import type { Decision } from '../../src/engine/decision.ts';
import { execute } from '../../src/engine/execute.ts';
import { detailsOf } from '../../src/engine/request-details.ts';
import { claimAndRunTurn } from '../../src/engine/turns/run-turn.ts';
import { delegationsIn } from '../../src/store/documents/delegations.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import type { AroundRun } from '../../src/tools/toolbox/toolbox.ts';
import { connectTestRedis } from '../support/redis.ts';
import type { Standing } from './compositions.ts';
import { enrolAll, logProblems, signApproval } from './signers.ts';
import { OWN_TEAM, readManifest, startQuietBot } from './start-quiet-bot.ts';

export const [RITA, ROY, ANN, BEN] = ['U0RITA001', 'U0ROY0002', 'U0ANN0003', 'U0BEN0004'] as const;
export const THREAD = 'C0ONE00001:1700000000.000001';
export const OTHER_THREAD = 'C0TWO00002:1700000000.000002';

/** A manifest with the tool `pay`; `pay` adds to its entry, `tools` and `more` to the manifest. */
export const manifest = ({
  approvers = `[${ANN}, ${BEN}]`,
  policy = '',
  approval = '{ policy: default }',
  more = '',
  description = 'Pays.',
  pay = '',
  tools = '',
} = {}) => `
slack: { display_information: { name: Test } }
policies:
  default: { approvers: ${approvers}, notify: { direct_messages: false }, ${policy} }
  boss: { approvers: [${ROY}], notify: { direct_messages: false } }
${more}
tools:
${tools}
  pay:
    description: ${description}
    input: { type: object }
    http: { method: POST, url: "https://example.com/" }
    approval: ${approval}
${pay}
`;

/** By how much a start is answered too late where starts are slow. */
const LATE: Readonly<Record<string, number>> = { start: 120, vote: 120, startEffect: 1_200 };

/** Approvers of whom each is a group. */
export const EACH = `{ all: [{ any: [${ANN}] }, { any: [${BEN}] }] }`;

export interface SceneOptions {
  readonly text?: string;
  /** Answers starts later than the bot may act on them. */
  readonly slow?: boolean;
  /** Lets each call fail after it was made. */
  readonly breaks?: boolean;
  /** The members of user groups, which a test may change. */
  readonly members?: Readonly<Record<string, readonly string[]>>;
  /** The functions of tools; any other tool only notes its input. */
  readonly acts?: Readonly<Record<string, (...args: Parameters<AroundRun>) => unknown>>;
}

/** Opens the bot with its tools in the process, and says what people do; `paid` lists what the tools were called with. */
export async function openScene({
  text = manifest(),
  slow = false,
  breaks = false,
  members: first = {},
  acts = {},
}: SceneOptions = {}) {
  const redis = connectTestRedis();
  const store = openRedisStore({ client: redis.client, prefix: redis.prefix });
  let deadly: keyof Store | undefined;
  /** The record as one process sees it: the process dies when a deadly verb has reached Redis. */
  const seen = (): Store => {
    let isDead = false;
    return new Proxy(store, {
      get(target, verb) {
        const method: unknown = Reflect.get(target, verb);
        if (typeof method !== 'function' || verb === 'exportAudit') return method;
        return async (...args: readonly unknown[]): Promise<unknown> => {
          if (isDead) throw new Error('dead');
          const result: unknown = await Reflect.apply(method, target, args);
          if (slow) await sleep(LATE[verb.toString()] ?? 0);
          if (verb === deadly) isDead = true;
          if (isDead) throw new Error('dead');
          return result;
        };
      },
    });
  };
  const standing: Record<string, Standing> = Object.fromEntries(
    [RITA, ROY, ANN, BEN].map((id) => [id, 'active' as const]),
  );
  const members: Record<string, readonly string[]> = { ...first };
  const paid: unknown[] = [];
  let wanted = { name: 'pay', arguments: '{}' };
  const start = (manifestText: string) =>
    startQuietBot({
      ...{ store: seen(), manifest: readManifest(manifestText), people: { standing, members } },
      timing: slow ? { heartbeatTimeoutMs: 100, leaseMs: 1_000 } : { leaseMs: 2_000 },
      model: {
        name: 'scripted',
        async reply({ history }) {
          const isAsked = history.at(-1)?.role === 'user';
          const calls = isAsked && wanted.name !== '' ? [{ id: randomUUID(), ...wanted }] : [];
          return { finish: 'stop', text: calls.length > 0 ? '' : 'Done.', calls, usage: undefined };
        },
      },
      around: async (...args) => {
        const [name, input] = args;
        const act = acts[name];
        if (act !== undefined) return act(...args);
        paid.push(input);
        if (breaks) throw new Error('The connection was cut after the call');
        return undefined;
      },
    });
  let bot = await start(text);
  onTestFinished(async () => {
    await bot.turns.idle(10_000);
    await bot.toolbox.close();
    await redis.close();
  });
  const settle = async (thread: string = THREAD) => {
    await bot.turns.idle(10_000);
    const [open] = await store.waitingIn(thread);
    if (open !== undefined) await execute(executorContext(bot), open).catch(() => {});
    await claimAndRunTurn(turnContext(bot), thread).catch(() => {});
    return (await store.waitingIn(thread))[0];
  };
  const record = async (id: string) => {
    const loaded = await store.load(id);
    if (loaded.outcome !== 'found') throw new Error(loaded.outcome);
    return { ...loaded.request, shown: detailsOf(loaded.request) };
  };
  let clock = 10;
  return {
    paid,
    store,
    record,
    /** Asks for a payment or another call, or without a tool for an answer in words; returns the request that waits then. */
    async ask(
      input: number | JsonObject,
      { by = RITA as string, thread = THREAD as string, tool = 'pay' } = {},
    ) {
      clock += 1;
      const given = typeof input === 'number' ? { amount: input } : input;
      wanted = { name: tool, arguments: JSON.stringify(given) };
      const message = {
        ts: `1700000000.0000${clock}`,
        user: by,
        text: 'pay',
        toBot: true,
        mention: false,
        files: [],
      };
      await receiveMessage(bot, { ...message, thread: parseThreadId(thread) }, undefined);
      return settle(thread);
    },
    /** Decides the request that waits, or one that is named; returns the sentence for the person and what waits then. */
    async click(
      who: string,
      decision: Decision = { type: 'approve' },
      {
        thread = THREAD as string,
        team = OWN_TEAM,
        channel = undefined as string | undefined,
        request = undefined as string | undefined,
      } = {},
    ) {
      const [waiting = ''] = await store.waitingIn(thread);
      const notice = await applyDecision(bot, {
        requestId: request ?? waiting,
        click: { who, id: randomUUID(), team, channel },
        decision,
      });
      const open = await settle(thread);
      return { notice, open };
    },
    /** Signs an approval of what waits with a passkey, which everybody has from then on. */
    async signed(who: string): Promise<Decision> {
      await enrolAll(store, [RITA, ROY, ANN, BEN]);
      const [waiting = ''] = await store.waitingIn(THREAD);
      const assertion = await signApproval(bot, waiting, who, false);
      return { type: 'approve', ...(assertion !== undefined && { assertion }) };
    },
    /** Lets somebody decide in the place of somebody else. */
    delegate: (from: string, to: string) =>
      delegationsIn(store).delegate({
        ...{ from, to, id: randomUUID(), reason: '', evidence: {} },
        until: Date.now() + 3_600_000,
      }),
    /** Counts the approvals that the log proves, and lists what it does not. */
    proofs: () => logProblems(store),
    settle,
    become(who: string, standing_: Standing) {
      standing[who] = standing_;
      bot = { ...bot, directory: bot.directory.fresh() };
    },
    /** Changes who is in a user group. */
    regroup(group: string, people: readonly string[]) {
      members[group] = people;
      bot = { ...bot, directory: bot.directory.fresh() };
    },
    replace: (next: string) => bot.toolbox.replace(readManifest(next)),
    /** Lets the process die when this verb has reached Redis. */
    dieAfter(verb: keyof Store) {
      deadly = verb;
    },
    /** Starts another process on the same record. */
    async restart(next = text) {
      deadly = undefined;
      await bot.toolbox.close();
      bot = await start(next);
    },
    freeze: (scope = 'pay') => store.freeze({ scope, id: 'f', who: ROY, reason: '', evidence: {} }),
    unfreeze: (scope = 'pay') =>
      store.unfreeze({
        ...{ scope, id: 'u', who: ROY, reason: '', evidence: {} },
        ...{ eligible: true, quorum: 1, stillEligible: [] },
      }),
  };
}
