import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/commands/run-command-line.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST, MANIFEST, type Story, startStory, type Thread } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const slack = { app: { commands: ['/countersign'] } };
const SWEEP = { everyMs: 100, overdueMs: 0 };
const TIMING = { renewMs: 100 };
const manifest = MANIFEST.replace('agent: {', `agent: { admins: [${CAST.admin}],`);
const HELD = /Paused: an admin froze all actions and the model\./;

const command = (story: Story, who: string, text: string) =>
  story.workspace.as(who).command('/countersign', text);
const held = (story: Story, thread: Thread) =>
  story.repliesIn(thread).filter(({ text }) => HELD.test(text)).length;

test('freeze all --model ends a running call of the model and lets none start, in any process; each thread is told once, and goes on after it', async () => {
  let isFrozen = false;
  const story = await startStory({
    ...{ manifest, slack, sweep: SWEEP, timing: TIMING },
    replies: (request) => {
      if (isFrozen) throw new Error('the model was called while it was frozen');
      return story.model.requests.length === 1
        ? { hang: true }
        : {
            text: `Answer to ${JSON.stringify(request.messages.at(-1)).includes('second') ? 'two' : 'one'}.`,
          };
    },
  });
  await story.startOwnBot();
  const running = story.ask('the first');
  await expect.poll(() => story.model.requests.length).toBe(1);
  await command(story, CAST.alice, 'freeze all --model');
  await story.noticeFor(CAST.alice, /Only admins/);
  await command(story, CAST.admin, 'freeze refund_order --model');
  await story.noticeFor(CAST.admin, /only be frozen with all actions/);
  isFrozen = true;
  await command(story, CAST.admin, 'freeze all —model It talks <@U0BAD> nonsense');
  await story.noticeFor(CAST.admin, /Frozen: all actions\..* The model is frozen too/);
  await running.shows(/Paused: an admin froze all actions and the model\. Reason: It talks/);
  const later = story.ask('the second');
  await later.shows(HELD);
  story.ask('hello? the first', { channel: running.channel, threadTs: running.ts });
  await story.allReceived();
  // The wake-up of a process that missed the end of the freeze tells nobody again.
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  for (const { channel, ts } of [running, later])
    await story.redis.zadd(`{${story.prefix}}:timers`, 1, `thread|${channel}:${ts}`);
  await expect
    .poll(async () =>
      Number(await story.redis.zscore(`{${story.prefix}}:timers`, `thread|${later.channel}:${later.ts}`)),
    )
    .toBeGreaterThan(Date.now());
  await story.deliveredAll();
  expect([held(story, running), held(story, later)]).toEqual([1, 1]);
  expect(story.model.requests).toHaveLength(1);
  expect((await store.readFreezes()).freezes.map(({ scope }) => scope).sort()).toEqual(['*', '*model']);

  isFrozen = false;
  await command(story, CAST.admin, 'unfreeze');
  await story.noticeFor(CAST.admin, /Unfrozen: all actions/);
  await running.shows(/Answer to one\./);
  await later.shows(/Answer to two\./);
  expect((await store.readFreezes()).freezes).toEqual([]);
});

test('a tool that runs ends as it would, once, and its thread goes on from its result', async () => {
  const workshop = await openWorkshop();
  const story = await startStory({
    manifest: workshopManifest()
      .replace('agent: {', `agent: { admins: [${CAST.admin}],`)
      .replace('{ policy: default }', '{ require: never }'),
    ...{ slack, sweep: SWEEP, timing: TIMING },
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Pressed it.' }],
  });
  await workshop.hold('after');
  const thread = story.ask('press it');
  await workshop.has(1, 'effects');
  await command(story, CAST.admin, 'freeze all --model');
  await story.noticeFor(
    CAST.admin,
    /1 action still running, and will finish: Press part\. The model is frozen too/,
  );
  await workshop.release('after');
  await thread.shows(HELD);
  expect(story.model.requests).toHaveLength(1);
  await command(story, CAST.admin, 'unfreeze all');
  await thread.shows(/Pressed it\./);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
  expect(story.toldOfCalls()).toHaveLength(1);
});

test('what people stop while the model is frozen does not go on', async () => {
  const story = await startStory({
    manifest,
    slack,
    sweep: SWEEP,
    timing: TIMING,
    replies: [{ hang: true }],
  });
  const thread = story.ask('write a poem');
  await expect.poll(() => story.model.requests.length).toBe(1);
  await command(story, CAST.admin, 'freeze all --model');
  await thread.shows(HELD);
  story.ask('stop', { channel: thread.channel, threadTs: thread.ts });
  await story.allReceived();
  await command(story, CAST.admin, 'unfreeze all');
  await story.noticeFor(CAST.admin, /Unfrozen: all actions/);
  const inbox = `{${story.prefix}}:inbox:${thread.channel}:${thread.ts}`;
  await expect.poll(() => story.redis.llen(inbox)).toBe(0);
  await story.deliveredAll();
  expect(story.model.requests).toHaveLength(1);
});

test('the command line freezes the model without Slack, and where several must want the end, each vote counts for both', async () => {
  const rule = `agent: { admins: [${CAST.admin}], unfreeze: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2 },`;
  const story = await startStory({
    manifest: MANIFEST.replace('agent: {', rule),
    ...{ slack, sweep: SWEEP, timing: TIMING },
    replies: [{ text: 'Back again.' }],
  });
  const written: string[] = [];
  const run = (...args: string[]) =>
    runCommandLine(args, {
      environment: { REDIS_URL: story.setup.settings.redis.urls[0] },
      prefix: story.prefix,
      write: async (text) => void written.push(text),
      writeError: async (text) => void written.push(text),
    });
  expect(await run('freeze', 'refund_order', '--model', '--reason', 'x', '--as', 'ops')).toBe(2);
  expect(await run('freeze', 'all', '--model', '--reason', 'Drill', '--as', 'ops')).toBe(0);
  expect(written.at(-1)).toMatch(/The model is frozen too/);
  const thread = story.ask('anybody there?');
  await thread.shows(/Paused: an admin froze all actions and the model\. Reason: Drill\./);
  await command(story, CAST.alice, 'unfreeze all');
  await story.noticeFor(CAST.alice, /1 of 2 approvals to unfreeze all actions/);
  expect(story.model.requests).toHaveLength(0);
  await command(story, CAST.bruno, 'unfreeze all');
  await story.noticeFor(CAST.bruno, /Unfrozen: all actions/);
  await thread.shows(/Back again\./);
});
