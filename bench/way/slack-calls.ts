import { setTimeout as sleep } from 'node:timers/promises';
import { APPROVERS_GROUP, CAST, CHANNELS, DEFAULT_USERS } from '../../playground/slack/default-cast.ts';
import type { LocalSlackOptions } from '../../playground/slack/start-local-slack.ts';
import { type InstantModel, startInstantModel } from '../support/instant-model.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import type { Table } from '../support/table.ts';
import { ourBot } from './bots.ts';
import { openStage, type Stage } from './stage.ts';

const SLACK_MS = 100;
const MODEL_MS = 800;
const SLOW_MODEL_MS = 3_000;
const ACTIONS = 5;
const TIMEOUT_MS = 300_000;
const THREE = [CAST.alice, CAST.bruno, CAST.admin];
const CROWD = Array.from({ length: 14 }, (_, index) => ({
  id: `U0CROWD${String(index).padStart(3, '0')}`,
  name: `crowd${index}`,
}));

interface Scene {
  readonly policy: string;
  readonly seed?: LocalSlackOptions;
  readonly actionMs?: number;
}

/** Measures how often the bot calls Slack for an approved action, and what long actions leave for others. */
export async function measureSlackCalls(longMs = 140_000): Promise<Table[]> {
  const model = await startInstantModel();
  try {
    const counts: Table[] = [];
    for (const modelMs of [MODEL_MS, SLOW_MODEL_MS]) counts.push(await countCalls(model, modelMs));
    await model.setDelay(MODEL_MS);
    return [...counts, await measureLongThread(model), await measureLongActions(model, longMs)];
  } finally {
    model.stop();
  }
}

async function countCalls(model: InstantModel, modelMs: number): Promise<Table> {
  await model.setDelay(modelMs);
  const userGroups = [{ id: APPROVERS_GROUP, handle: 'approvers', name: 'Approvers', users: THREE }];
  const scenes: readonly (Scene & { readonly who: string; readonly most: number })[] = [
    {
      who: 'one approver, no direct messages',
      policy: `approvers: [${CAST.alice}], notify: { direct_messages: false }`,
      most: 7,
    },
    {
      who: 'one approver, direct messages',
      policy: `approvers: [${CAST.alice}], notify: { direct_messages: true }`,
      most: 9,
    },
    {
      who: 'a group of three, direct messages',
      policy: `approvers: [${APPROVERS_GROUP}], notify: { direct_messages: true }`,
      most: 13,
    },
  ];
  const rows: string[][] = [];
  for (const { who, most, ...scene } of scenes)
    rows.push([
      who,
      (await onStage(model, { ...scene, seed: { userGroups } }, countPerAction)).toFixed(1),
      String(most),
    ]);
  return {
    title: `Slack calls per approved action (Slack ${SLACK_MS} ms, model ${modelMs} ms, people looked up before)`,
    columns: ['', 'calls', 'at most'],
    rows,
  };
}

async function countPerAction({ workspace, people }: Stage): Promise<number> {
  const act = async () => {
    const card = await people.request();
    // The copies of a card follow it; nobody is sent one of a request that is decided already.
    await people.untilQuiet();
    await people.approve(card);
    await people.untilQuiet();
  };
  await act();
  workspace.calls.length = 0;
  for (let action = 0; action < ACTIONS; action += 1) await act();
  return workspace.calls.length / ACTIONS;
}

const LONG_THREAD = 2_000;

/** Measures what a mention in a long thread of people costs: the calls to read it, and the time to the card. */
export async function measureLongThread(model: InstantModel): Promise<Table> {
  const policy = `approvers: [${CAST.alice}], notify: { direct_messages: false }`;
  const rows = await onStage(model, { policy }, async ({ workspace, people }) => {
    const measured: string[][] = [];
    for (const length of [1, 20, LONG_THREAD]) {
      const { ts } = workspace.as(CAST.alice).send(CHANNELS.general, 'The beginning.');
      for (let number = 1; number < length; number += 1) {
        workspace.as(CAST.alice).send(CHANNELS.general, `Message ${number} of people.`, { threadTs: ts });
        // The bot receives each of them; more at a time would be late.
        if (number % 100 === 0) await people.untilQuiet();
      }
      await people.untilQuiet();
      workspace.calls.length = 0;
      const { cardMs } = await people.request(ts);
      const reads = workspace.calls.filter(({ method }) => method === 'conversations.replies').length;
      measured.push([String(length), String(reads), String(Math.round(cardMs))]);
    }
    return measured;
  });
  return {
    title: `A mention in a thread of people (Slack ${SLACK_MS} ms, model ${MODEL_MS} ms)`,
    columns: ['messages', 'calls to read them', 'to the card, ms'],
    rows,
  };
}

async function measureLongActions(model: InstantModel, longMs: number): Promise<Table> {
  const crowd = [CAST.alice, ...CROWD.map(({ id }) => id)].join(', ');
  const short = await onStage(
    model,
    {
      policy: `approvers: [${crowd}], notify: { direct_messages: true }`,
      seed: { users: [...DEFAULT_USERS, ...CROWD], rateLimits: 'slack' },
      actionMs: 8_000,
    },
    (stage) => runLong(stage, 8_000),
  );
  const long = await onStage(
    model,
    {
      policy: `approvers: [${THREE.join(', ')}], notify: { direct_messages: true }`,
      seed: { rateLimits: 'slack' },
      actionMs: longMs,
    },
    (stage) => runLong(stage, longMs),
  );
  const row = (name: string, { refused, lateMs, otherMs, updates }: LongRun) => [
    name,
    String(refused),
    String(Math.round(lateMs)),
    String(Math.round(otherMs)),
    updates.toFixed(1),
  ];
  return {
    title: "Long actions that report progress all the time, under Slack's rate limits",
    columns: [
      '',
      'answers of 429',
      "thread's card late, ms",
      "another thread's card, ms",
      'updates a minute',
    ],
    rows: [row('15 approvers, 8 s', short), row(`3 approvers, ${Math.round(longMs / 1_000)} s`, long)],
  };
}

interface LongRun {
  readonly refused: number;
  /** From the end of the action to the card in the thread that shows it. */
  readonly lateMs: number;
  /** From a message in another thread, in the middle of the action, to its card. */
  readonly otherMs: number;
  readonly updates: number;
}

async function runLong({ workspace, people }: Stage, actionMs: number): Promise<LongRun> {
  const card = await people.request();
  await people.untilQuiet();
  workspace.calls.length = 0;
  const startedAt = performance.now();
  await workspace.as(CAST.alice).click({ channel: CHANNELS.general, ts: card.ts }, card.actionId);
  await sleep(actionMs / 2);
  const other = await people.request();
  await workspace.until(
    () => /\bDone\b/.test(JSON.stringify(workspace.state.findMessage(CHANNELS.general, card.ts) ?? {})),
    { timeoutMs: TIMEOUT_MS, what: 'the settled card' },
  );
  const settledMs = performance.now() - startedAt;
  await people.untilQuiet();
  const minutes = Math.max(1, (performance.now() - startedAt) / 60_000);
  return {
    refused: workspace.calls.filter(({ status }) => status === 429).length,
    lateMs: Math.max(0, settledMs - actionMs),
    otherMs: other.cardMs,
    updates: workspace.calls.filter(({ method }) => method === 'chat.update').length / minutes,
  };
}

async function onStage<Result>(
  model: InstantModel,
  { policy, seed = {}, actionMs }: Scene,
  run: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const redis = await startPrivateRedis();
  const stage = await openStage(await ourBot(), { delayMs: SLACK_MS, seed });
  try {
    const bot = await stage.startBot({ redisUrl: redis.url, modelUrl: model.url, policy, actionMs });
    stage.setSlow(true);
    return await Promise.race([run(stage), bot.failed]);
  } finally {
    await stage.stop();
    await redis.stop();
  }
}
