import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { applyDecision, type Decision } from '../../src/bot/inbox/decisions/decision.ts';
import { receiveMessage } from '../../src/bot/inbox/receive-message.ts';
import { parseThreadId } from '../../src/bot/slack/thread.ts';
import { executorContext } from '../../src/bot/turns/executor-context.ts';
import { claimAndRunTurn } from '../../src/bot/turns/run-turn.ts';
import { execute } from '../../src/engine/execute.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { connectTestRedis } from '../support/redis.ts';
import type { Standing } from './compositions.ts';
import { OTHER_TEAM, OWN_TEAM, readManifest, startQuietBot } from './start-quiet-bot.ts';

const [RITA, ROY, ANN, BEN] = ['U0RITA001', 'U0ROY0002', 'U0ANN0003', 'U0BEN0004'];
const THREAD = 'C0ONE00001:1700000000.000001';
const OTHER_THREAD = 'C0TWO00002:1700000000.000002';
const GRANTS = '{ for: 1h, uses: 5, when: "input.amount <= 10" }';

const manifest = ({
  policy = '',
  approval = '{ policy: default }',
  more = '',
  description = 'Pays.',
} = {}) => `
slack: { display_information: { name: Test } }
policies:
  default: { approvers: [${ANN}, ${BEN}], direct_messages: false, ${policy} }
  boss: { approvers: [${ROY}], direct_messages: false }
${more}
tools:
  pay:
    description: ${description}
    input: { type: object }
    http: { method: POST, url: "https://example.com/" }
    approval: ${approval}
`;

/** Opens the bot with one tool, and says what people do; `paid` lists what the tool was called with. */
async function openScene({
  text = manifest(),
  slow = false,
  breaks = false,
}: {
  readonly text?: string;
  /** Answers starts later than the bot may act on them. */
  readonly slow?: boolean;
  /** Lets each call fail after it was made. */
  readonly breaks?: boolean;
} = {}) {
  const redis = connectTestRedis();
  const record = openRedisStore({ client: redis.client, prefix: redis.prefix });
  const late = async <Result>(result: Promise<Result>): Promise<Result> => {
    await result;
    if (slow) await sleep(120);
    return result;
  };
  const store: Store = {
    ...record,
    start: (...args) => late(record.start(...args)),
    vote: (...args) => late(record.vote(...args)),
  };
  const standing: Record<string, Standing> = Object.fromEntries(
    [RITA, ROY, ANN, BEN].map((id) => [id, 'active' as const]),
  );
  const paid: unknown[] = [];
  let wanted: unknown;
  let bot = await startQuietBot({
    ...{ store, manifest: text, people: { standing, members: {} } },
    ...(slow && { timing: { heartbeatTimeoutMs: 100 } }),
    model: {
      name: 'scripted',
      async reply({ history }) {
        const isAsked = history.at(-1)?.role === 'user';
        const calls = isAsked ? [{ id: randomUUID(), name: 'pay', arguments: JSON.stringify(wanted) }] : [];
        return { finish: 'stop', text: isAsked ? '' : 'Done.', calls, usage: undefined };
      },
    },
    around: async (_name, input) => {
      paid.push(input);
      if (breaks) throw new Error('The connection was cut after the call');
    },
  });
  onTestFinished(async () => {
    await bot.turns.idle(10_000);
    await bot.toolbox.close();
    await redis.close();
  });
  const settle = async (thread: string) => {
    await bot.turns.idle(10_000);
    const [open] = await store.waitingIn(thread);
    if (open !== undefined) await execute(executorContext(bot), open).catch(() => {});
    await claimAndRunTurn(bot, thread);
    return (await store.waitingIn(thread))[0];
  };
  let clock = 10;
  return {
    paid,
    store,
    /** Asks for a payment; returns the request that waits then. */
    async ask(amount: number, { by = RITA as string, thread = THREAD } = {}) {
      clock += 1;
      wanted = { amount };
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
    async click(
      who: string,
      decision: Decision = { type: 'approve' },
      { thread = THREAD, team = OWN_TEAM, channel = undefined as string | undefined } = {},
    ) {
      const [requestId = ''] = await store.waitingIn(thread);
      const notice = await applyDecision(bot, {
        requestId,
        click: { who, id: randomUUID(), team, channel },
        decision,
      });
      const open = await settle(thread);
      return { notice, open };
    },
    settle,
    become(who: string, standing_: Standing) {
      standing[who] = standing_;
      bot = { ...bot, directory: bot.directory.fresh() };
    },
    replace: (next: string) => bot.toolbox.replace(readManifest(next)),
  };
}

const grant: Decision = { type: 'approve', grants: true };

/** Opens a scene in which Ann has granted small payments to Rita. */
async function openGranted({ scope = 'thread', more = '' } = {}) {
  const policy = `grants: ${GRANTS.replace('{', `{ scope: ${scope},`)}`;
  const scene = await openScene({ text: manifest({ policy, more }) });
  await scene.ask(5);
  await scene.click(ANN, grant);
  expect(scene.paid).toEqual([{ amount: 5 }]);
  return scene;
}

test('a grant lets the same person pay again, as much as it says', async () => {
  const { ask, paid } = await openGranted();
  expect(await ask(6)).toBeUndefined();
  expect(await ask(11)).toBeDefined();
  expect(paid).toEqual([{ amount: 5 }, { amount: 6 }]);
});

test('a grant is for nobody but those who asked for what it was given for', async () => {
  const { ask, paid } = await openGranted({ scope: 'requester' });
  expect(await ask(5, { by: ROY, thread: OTHER_THREAD })).toBeDefined();
  expect(await ask(5, { by: ROY })).toBeDefined();
  expect(paid).toHaveLength(1);
});

test('a grant of a thread is for that thread', async () => {
  const { ask, paid } = await openGranted();
  expect(await ask(5, { thread: OTHER_THREAD })).toBeDefined();
  expect(paid).toHaveLength(1);
});

test('a grant ends with the right of the person who gave it', async () => {
  const { ask, become, paid } = await openGranted();
  become(ANN, 'gone');
  expect(await ask(5)).toBeDefined();
  expect(paid).toHaveLength(1);
});

test('a grant ends when its tool or its policy changes', async () => {
  const terms = `grants: ${GRANTS.replace('{', '{ scope: thread,')}`;
  for (const changed of [{ policy: terms, description: 'Pays more.' }, { policy: `${terms}, expires: 2h` }]) {
    const { ask, replace, paid } = await openGranted();
    await replace(manifest(changed));
    expect(await ask(5)).toBeDefined();
    expect(paid).toHaveLength(1);
  }
});

test('an attempt whose start was answered too late does not act on it, at once or in a worker', async () => {
  const { ask, click, paid } = await openScene({ slow: true });
  await ask(5);
  await click(ANN);
  expect(paid).toEqual([]);
});

test('a click that comes from another workspace does not count, also with the id of an approver', async () => {
  const { ask, click, paid } = await openScene();
  await ask(5);
  const { notice, open } = await click(ANN, { type: 'approve' }, { team: OTHER_TEAM });
  expect(notice).toBeDefined();
  expect(open).toBeDefined();
  expect(paid).toEqual([]);
});

test('neither a requester nor one whom the policy does not name nor a guest approves', async () => {
  const { ask, click, become, paid } = await openScene({
    text: manifest({ policy: '' }).replace(ANN, `${RITA}, ${ANN}`),
  });
  await ask(5);
  await click(RITA);
  await click(ROY);
  for (const standing of ['guest', 'gone', 'foreign', 'bot'] as const) {
    become(ANN, standing);
    await click(ANN);
  }
  expect(paid).toEqual([]);
  await click(BEN);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('separation of the whole thread bars everybody whose words the model read', async () => {
  const { ask, click, paid } = await openScene({ text: manifest({ policy: 'separation: thread' }) });
  await ask(5, { by: ANN });
  await click(BEN);
  await ask(6);
  await click(ANN);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('before the start each approver, each requester, the rules and the tool are looked at once more', async () => {
  const two = { policy: 'quorum: 2' };
  const changes: ((scene: Awaited<ReturnType<typeof openScene>>) => unknown)[] = [
    ({ become }) => become(ANN, 'gone'),
    ({ become }) => become(RITA, 'gone'),
    ({ replace }) => replace(manifest({ ...two, description: 'Pays more.' })),
    ({ replace }) => replace(manifest({ policy: 'quorum: 2, self_approval: true' })),
    ({ replace }) => replace(manifest({ ...two, approval: '{ require: deny, reason: No. }' })),
    ({ replace }) => replace(`${manifest(two)}    allow: { people: [${ROY}] }\n`),
    ({ store }) => store.freeze({ scope: 'pay', id: 'f', who: ROY, reason: '', evidence: {} }),
  ];
  for (const change of changes) {
    const scene = await openScene({ text: manifest(two) });
    await scene.ask(5);
    await scene.click(ANN);
    await change(scene);
    await scene.click(BEN);
    expect(scene.paid).toEqual([]);
  }
});

test('what is over a limit by the time it starts does not run on an approval that was given before', async () => {
  const more = 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 10, policy: boss } }';
  const { ask, click, paid } = await openScene({ text: manifest({ more }) });
  await ask(8);
  await ask(8, { by: BEN, thread: OTHER_THREAD });
  await click(ANN);
  const { open } = await click(ANN, { type: 'approve' }, { thread: OTHER_THREAD });
  expect(paid).toEqual([{ amount: 8 }]);
  expect(open).toBeDefined();
});

test('an edit needs a new approval, not of the editor, and only a requester or an approver edits', async () => {
  const { ask, click, paid } = await openScene();
  await ask(5);
  expect((await click(ROY, { type: 'edit', input: { amount: 1 } })).notice).toBeDefined();
  await click(ANN, { type: 'edit', input: { amount: 9 } });
  await click(ANN);
  expect(paid).toEqual([]);
  await click(BEN);
  expect(paid).toEqual([{ amount: 9 }]);
});

test('an edit that changes nothing makes nobody a requester', async () => {
  const { ask, click, paid } = await openScene();
  await ask(5);
  await click(ANN, { type: 'edit', input: { amount: 5 } });
  await click(ANN);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('a grant lets neither an edited call run nor one over a limit', async () => {
  const more = 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 8, policy: boss } }';
  const limited = await openGranted({ more });
  expect(await limited.ask(5)).toBeDefined();
  expect(limited.paid).toHaveLength(1);
  const { ask, click, paid } = await openGranted();
  await ask(11);
  expect((await click(RITA, { type: 'edit', input: { amount: 5 } })).open).toBeDefined();
  expect(paid).toHaveLength(1);
});

test('a delegate approves what the delegator could, as long as that person may, and nothing where the policy does not say so', async () => {
  const given = { from: ANN, to: ROY, id: 'd', until: Date.now() + 60_000, reason: '', evidence: {} };
  const { ask, click, become, replace, store, paid } = await openScene({
    text: manifest({ policy: 'delegation: true' }),
  });
  await store.delegate(given);
  become(ANN, 'gone');
  await ask(5);
  await click(ROY);
  expect(paid).toEqual([]);
  become(ANN, 'active');
  await click(ROY);
  expect(paid).toEqual([{ amount: 5 }]);
  await replace(manifest());
  await ask(6);
  await click(ROY);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('a click in a channel that does not show the card does not count', async () => {
  const { ask, click, paid } = await openScene();
  await ask(5);
  await click(ANN, { type: 'approve' }, { channel: 'C0ELSE0003' });
  expect(paid).toEqual([]);
  await click(ANN, { type: 'approve' }, { channel: 'C0ONE00001' });
  expect(paid).toEqual([{ amount: 5 }]);
});

test('somebody whom the policy excludes does not approve', async () => {
  const { ask, click, paid } = await openScene({
    text: manifest().replace(`[${ANN}, ${BEN}]`, `{ any: [${ANN}, ${BEN}], not: [${ANN}] }`),
  });
  await ask(5);
  await click(ANN);
  expect(paid).toEqual([]);
});

test('what may have run is neither edited nor approved again, and while it is frozen it does not run again either', async () => {
  const { ask, click, settle, store, paid } = await openScene({ breaks: true });
  const request = await ask(5);
  await click(ANN);
  expect(paid).toHaveLength(1);
  await click(RITA, { type: 'edit', input: { amount: 6 } });
  await click(BEN);
  const freeze = { scope: 'pay', id: 'f', who: ROY, reason: '', evidence: {} };
  await store.freeze(freeze);
  const loaded = await store.load(request ?? '');
  const tries = loaded.outcome === 'found' ? loaded.request.attempts : 0;
  await click(BEN, { type: 'resolve', verdict: 'run-again', reason: '', tries });
  expect(paid).toHaveLength(1);
  await store.unfreeze({ ...freeze, id: 'u', eligible: true, quorum: 1, stillEligible: [] });
  await settle(THREAD);
  expect(paid).toEqual([{ amount: 5 }, { amount: 5 }]);
});

test('a limit that a new manifest sets counts for what waits for approval', async () => {
  const { ask, click, replace, paid } = await openScene();
  await ask(8);
  await replace(
    manifest({
      more: 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 5, policy: boss } }',
    }),
  );
  expect((await click(ANN)).open).toBeDefined();
  expect(paid).toEqual([]);
});

test('what changed while it was frozen does not run afterwards on the old approval', async () => {
  const { ask, click, replace, settle, store, paid } = await openScene();
  const freeze = { scope: 'pay', id: 'f', who: ROY, reason: '', evidence: {} };
  await ask(5);
  await store.freeze(freeze);
  await click(ANN);
  await replace(manifest({ description: 'Pays more.' }));
  await store.unfreeze({ ...freeze, id: 'u', eligible: true, quorum: 1, stillEligible: [] });
  expect(await settle(THREAD)).toBeDefined();
  expect(paid).toEqual([]);
  await click(ANN);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('what expired with half of its approvals neither runs nor is edited, and counts for no limit', async () => {
  const more = 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 8 } }';
  const { ask, click, store, paid } = await openScene({
    text: manifest({ policy: 'quorum: 2, expires: 1s', more }),
  });
  const request = (await ask(5)) ?? '';
  await click(ANN);
  await expect
    .poll(async () => (await store.end(request, { state: 'expired' })).outcome, { timeout: 10_000 })
    .toBe('ended');
  await click(BEN);
  await click(RITA, { type: 'edit', input: { amount: 6 } });
  expect(paid).toEqual([]);
  await ask(8);
  await click(ANN);
  await click(BEN);
  expect(paid).toEqual([{ amount: 8 }]);
});

test('only a requester withdraws, and what was withdrawn or rejected does not run', async () => {
  const { ask, click, paid } = await openScene({ text: manifest({ policy: 'quorum: 2' }) });
  await ask(5);
  await click(ANN);
  expect((await click(ROY, { type: 'withdraw' })).open).toBeDefined();
  await click(RITA, { type: 'withdraw' });
  await ask(6);
  await click(ANN);
  await click(BEN, { type: 'reject', reason: '' });
  expect(paid).toEqual([]);
});

test('a call that runs without approval stops at a freeze, a limit and a denial for anybody whose words led to it', async () => {
  const approval = `[{ require: deny, when: 'requester == "${ROY}"', reason: No. }, { require: never }]`;
  const more = 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 10 } }';
  const { ask, paid, store } = await openScene({ text: manifest({ approval, more }) });
  await ask(6);
  await ask(6);
  await ask(1, { by: ROY });
  await ask(1);
  await store.freeze({ scope: 'pay', id: 'f', who: ROY, reason: '', evidence: {} });
  await ask(1, { thread: OTHER_THREAD });
  expect(paid).toEqual([{ amount: 6 }]);
});
