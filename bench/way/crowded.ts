import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import { startInstantModel } from '../support/instant-model.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import { REFUND_TOOL } from '../support/refund.ts';
import type { Table } from '../support/table.ts';
import { ourBot } from './bots.ts';
import type { PendingCard } from './slack-people.ts';
import { openStage, type Stage } from './stage.ts';

const SLACK_MS = 100;
const COMMAND = '/countersign';
const APPROVERS = [CAST.alice, CAST.bruno];
/** Approvals that follow each other while the cards of the others are still redrawn. */
const CLICKS = 3;
const TIMEOUT_MS = 120_000;

/** Measures, at Slack's limits, how soon an approval is seen while a freeze redraws the cards of all that waits. */
export async function measureCrowd(waiting: number): Promise<Table> {
  const redis = await startPrivateRedis();
  const model = await startInstantModel();
  const stage = await openStage(await ourBot(), {
    delayMs: SLACK_MS,
    seed: { app: { commands: [COMMAND] } },
  });
  try {
    const policy = `approvers: [${APPROVERS.join(', ')}], direct_messages: true`;
    const bot = await stage.startBot({ redisUrl: redis.url, modelUrl: model.url, policy });
    const rows = await Promise.race([approveInCrowd(stage, waiting), bot.failed]);
    return {
      title: `An approval while a freeze redraws ${waiting} requests with three cards each, at Slack's limits (Slack ${SLACK_MS} ms)`,
      columns: ['', 'clicked card, ms', "Alice's Home, ms", "Bruno's Home, ms", 'answers of 429'],
      rows,
    };
  } finally {
    await stage.stop();
    model.stop();
    await redis.stop();
  }
}

async function approveInCrowd(stage: Stage, waiting: number): Promise<string[][]> {
  const { workspace, people } = stage;
  const cards: PendingCard[] = [];
  for (let index = 0; index < waiting; index += 1) cards.push(await people.request());
  await people.untilQuiet();
  for (const who of APPROVERS) workspace.as(who).openHome();
  await Promise.all(APPROVERS.map((who) => homeShows(stage, who, waiting)));

  workspace.keepLimits();
  stage.setSlow(true);
  workspace.calls.length = 0;
  await workspace.as(CAST.bruno).command(COMMAND, `freeze ${REFUND_TOOL.name} for today`);
  await until(stage, () => updates(stage) >= 12, 'the first redrawn cards');

  const rows: string[][] = [];
  for (const card of cards.slice(-CLICKS)) {
    const before = updates(stage);
    const left = waiting - rows.length - 1;
    const seen = [cardChanges(stage, card), ...APPROVERS.map((who) => homeShows(stage, who, left))];
    const clickedAt = performance.now();
    await workspace.as(CAST.alice).click({ channel: CHANNELS.general, ts: card.ts }, card.actionId);
    const times = (await Promise.all(seen)).map((at) => Math.round(at - clickedAt).toLocaleString('en'));
    const refused = workspace.calls.filter(({ status }) => status === 429).length;
    rows.push([`approval ${rows.length + 1}, after ${before} updates`, ...times, String(refused)]);
  }
  return rows;
}

function updates({ workspace }: Stage): number {
  return workspace.calls.filter(({ method }) => method === 'chat.update').length;
}

/** Returns when the card that was clicked first says something else than that it waits. */
function cardChanges(stage: Stage, { ts }: PendingCard): Promise<number> {
  const text = () => stage.workspace.state.findMessage(CHANNELS.general, ts)?.text ?? '';
  return until(stage, () => !text().startsWith('Approval needed'), 'the changed card');
}

/** Returns when the Home of a person first has so many requests waiting. */
function homeShows(stage: Stage, who: string, count: number): Promise<number> {
  const home = () => JSON.stringify(stage.workspace.homeOf(who)?.blocks ?? []);
  return until(stage, () => home().includes(`Waiting for you (${count})`), `${count} in the Home of ${who}`);
}

async function until({ workspace }: Stage, isSo: () => boolean, what: string): Promise<number> {
  await workspace.until(() => isSo() || undefined, { what, timeoutMs: TIMEOUT_MS });
  return performance.now();
}
