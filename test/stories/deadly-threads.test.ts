import { expect, test } from 'vitest';
import { MORTAL, startDoomedBot } from './doomed-bot.ts';
import { CAST, startStory } from './support.ts';

const { alice, admin } = CAST;

const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${admin}] }
policies:
  default: { approvers: [${alice}], notify: { direct_messages: false } }
tools:
  read_everything: { module: ./test/stories/fixtures/deadly-tool.ts, approval: { require: never } }
`;
const SWEEP = { everyMs: 100, overdueMs: 0 };
/** As many as run in one process beside the one that kills it. */
const BYSTANDERS = 15;

test('of the threads that share the processes that one of them kills, that one is quarantined, the admins are told, and all others end', async () => {
  let lives = 0;
  let isOver = false;
  const asked = { 1: new Set<string>(), 2: new Set<string>() };
  const story = await startStory({
    manifest: MANIFEST,
    replies: async ({ messages }) => {
      const isDeadly = JSON.stringify(messages).includes('read it all');
      // In the first two processes nobody ends before the thread that kills the process has all others beside it.
      if (lives === 1 || lives === 2) {
        const running = asked[lives].add(JSON.stringify(messages));
        if (!isDeadly) return { hang: true };
        await expect.poll(() => running.size).toBe(BYSTANDERS + 1);
      }
      return isDeadly ? { calls: [{ name: 'read_everything', arguments: {} }] } : { text: 'Good morning.' };
    },
    timing: MORTAL,
    sweep: SWEEP,
    withoutBot: true,
  });

  const start = () => {
    lives += 1;
    return startDoomedBot(story, MANIFEST);
  };
  const first = await start();
  const deadly = story.ask('read it all');
  const others = Array.from({ length: BYSTANDERS }, (_, at) => story.ask(`good morning ${at}`));
  const restarting = (async () => {
    // A process can die before it says that it listens.
    for (await first.gone; !isOver; ) await (await start().catch(() => undefined))?.gone;
  })();

  for (let deaths = 1; deaths <= 5; deaths += 1) await expect.poll(() => lives).toBeGreaterThan(deaths);
  await deadly.shows(/I can't continue this thread/);
  await story.directly(admin).shows(/quarantined[\s\S]*five times in a row/);
  for (const other of others) await other.shows(/Good morning\./);
  await story.ask('good morning').shows(/Good morning\./);
  isOver = true;
  void restarting;
  expect(lives).toBe(6);
  expect(story.repliesIn(deadly)).toHaveLength(1);
  for (const other of others) expect(story.repliesIn(other)).toHaveLength(1);
});
