import { fileURLToPath } from 'node:url';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { CAST, PLACES } from '../../playground/slack/default-cast.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import type { Workspace } from '../../playground/slack/workspace.ts';
import { startBot } from '../../src/start-bot.ts';
import { benchBotSetup } from '../bot-setup.ts';
import type { Table } from '../table.ts';

const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { limits: { pending_per_person: 100000 } }
policies: { default: { approvers: [${CAST.alice}], direct_messages: false } }
tools: { publish_status: { module: ./examples/shop/tools/publish-status.ts, approval: { policy: default } } }
`;

/** How long people wait for Slack's acknowledgement and for the changed card when many click in the same second. */
export async function measureClicks(clicks: number): Promise<Table> {
  const redis = await bringUpRedis({ persistent: true });
  const slack = await startLocalSlack();
  const model = await startLocalModel({
    script: ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? { calls: [{ name: 'publish_status', arguments: { line: 'All systems work.' } }] }
        : { text: 'Done.' },
  });
  const bot = await startBot(
    benchBotSetup({
      slack,
      redisUrl: redis.url,
      model: { name: 'scripted', url: model.url },
      manifest: MANIFEST,
      folder: fileURLToPath(new URL('../..', import.meta.url)),
    }),
  );
  try {
    const waits = await clickAll(slack.workspace, clicks);
    const row = (what: string, times: readonly number[]) => {
      const sorted = [...times].sort((a, b) => a - b);
      const at = (part: number) =>
        Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0).toLocaleString('en');
      return [what, at(0.5), at(0.99), at(1)];
    };
    return {
      title: `${clicks} clicks at once, one worker, Redis with its log flushed every second`,
      columns: ['from the click', 'p50 ms', 'p99 ms', 'longest ms'],
      rows: [
        row(
          'to the acknowledgement, with the vote on record',
          waits.map(({ acknowledged }) => acknowledged),
        ),
        row(
          'to the changed card',
          waits.map(({ changed }) => changed),
        ),
      ],
    };
  } finally {
    await bot.stop();
    await slack.stop();
    await model.stop();
    await redis.stop();
  }
}

/** Notes when cards come and when they change; events, because polling would take the time that is measured. */
function watchCards(workspace: Workspace, count: number) {
  const posted: string[] = [];
  const changedAt = new Map<string, (at: number) => void>();
  return new Promise<{ posted: readonly string[]; change: (ts: string) => Promise<number> }>((resolve) => {
    workspace.state.events.on('message', ({ kind, message: { ts, blocks } }) => {
      const waits = JSON.stringify(blocks ?? []).includes('"approve"');
      if (kind === 'edited' && !waits) changedAt.get(ts)?.(Date.now());
      if (kind !== 'posted' || !waits || posted.push(ts) < count) return;
      resolve({ posted, change: (card) => new Promise((done) => changedAt.set(card, done)) });
    });
  });
}

async function clickAll(workspace: Workspace, count: number) {
  const watching = watchCards(workspace, count);
  const mention = `<@${workspace.state.app.botUserId}> publish a line`;
  for (let asked = 0; asked < count; asked += 1) workspace.as(CAST.requester).say(PLACES.general, mention);
  const { posted, change } = await watching;
  return Promise.all(
    posted.map(async (ts) => {
      const began = Date.now();
      const changed = change(ts);
      const outcome = await workspace.as(CAST.alice).click({ channel: PLACES.general, ts }, 'approve');
      if (outcome.kind !== 'acknowledged') throw new Error(`A click was not acknowledged: ${outcome.reason}`);
      return { acknowledged: outcome.at - began, changed: (await changed) - began };
    }),
  );
}
