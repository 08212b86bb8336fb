import { expect, onTestFinished, test } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';
import { serveTasks } from '../tools/mcp/fixtures/task-server.ts';
import { startDoomedBot } from './doomed-bot.ts';
import { CAST, startStory } from './support.ts';

const MORTAL = { heartbeatTimeoutMs: 1_500, heartbeatMs: 100, leaseMs: 1_500, renewMs: 200, claimMs: 1_500 };

async function startTasks(rule: string, texts: readonly string[] = ['Reported.']) {
  const tasks = await serveTasks();
  onTestFinished(() => tasks.stop());
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${CAST.admin}] }
policies:
  default: { approvers: [${CAST.alice}], direct_messages: false }
tools:
  library:
    mcp: { url: "${tasks.url}", allow_private: ["127.0.0.1"] }
    approval: [ ${rule} ]
`;
  const story = await startStory({
    manifest,
    replies: [
      { calls: [{ name: 'research', arguments: { topic: 'rain' } }] },
      ...texts.map((text) => ({ text })),
    ],
    timing: MORTAL,
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
  });
  const isNoted = (note: string, seen = 0) =>
    expect
      .poll(() => tasks.notes.slice(seen), { timeout: PATIENCE_MS })
      .toContainEqual(expect.stringContaining(note));
  const isFollowed = (seen = 0) => isNoted('get task-1', seen);
  const calls = () => tasks.notes.filter((note) => note === 'call').length;
  return { tasks, manifest, story, isNoted, isFollowed, calls };
}

test.each([
  ['without approval', '{ require: never }'],
  ['with approval', '{ policy: default }'],
])(
  'a task %s is picked up by its id after the bot was killed, and is not started again',
  async (_how, rule) => {
    const { tasks, manifest, story, isFollowed, calls } = await startTasks(rule);
    const doomed = await startDoomedBot(story, manifest);
    const thread = story.ask('research rain');
    if (rule.includes('policy')) await thread.click(CAST.alice, /Approval needed/, 'approve');
    await isFollowed();
    await doomed.kill();
    const seen = tasks.notes.length;
    await story.startOwnBot();
    await isFollowed(seen);
    tasks.set('task-1', 'completed');
    await thread.shows(/Reported\./);
    expect(story.toldOfCalls().join()).toContain('report of task-1');
    expect(calls()).toBe(1);
  },
  240_000,
);

test('Stop cancels a running task', async () => {
  const { story, isNoted, isFollowed } = await startTasks('{ require: never }', []);
  await story.startOwnBot();
  const thread = story.ask('research rain');
  await isFollowed();
  story.ask('stop', { threadTs: thread.ts });
  await isNoted('cancel task-1');
  await thread.shows(/Outcome unknown/);
});
