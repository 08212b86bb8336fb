import { describe, expect, onTestFinished, test } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { waitingPart } from '../../src/agent/calls/outcomes.ts';
import { MESSAGE_VERSION, sealMessage, userMessage } from '../../src/agent/messages.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { NAME_FORM } from '../tools/mcp/fixtures/asking-tools.ts';
import { serveExtensionTasks } from '../tools/mcp/fixtures/extension-task-server.ts';
import { serveTasks } from '../tools/mcp/fixtures/task-server.ts';
import { ANSWER_CARD, approveAnswer, fillIn } from './asking-servers.ts';
import { MORTAL, startDoomedBot } from './doomed-bot.ts';
import { CAST, PLACES, startStory } from './support.ts';

const RESEARCH = { calls: [{ name: 'research', arguments: { topic: 'rain' } }] };
const RULES = [
  ['without approval', '{ require: never }'],
  ['with approval', '{ policy: default }'],
] as const;

async function serveOlder() {
  const server = await serveTasks();
  return { ...server, complete: () => server.set('task-1', 'completed') };
}

async function serveCurrent() {
  const server = await serveExtensionTasks();
  const result = { content: [{ type: 'text', text: 'report of task-1' }] };
  return { ...server, complete: () => server.set('task-1', { status: 'completed', result }) };
}

type Served = Pick<Awaited<ReturnType<typeof serveOlder>>, 'url' | 'notes' | 'complete' | 'stop'>;

async function startTasks<Server extends Served>(
  serve: () => Promise<Server>,
  rule: string,
  replies: readonly ModelReply[] = [RESEARCH, { text: 'Reported.' }],
) {
  const tasks = await serve();
  onTestFinished(() => tasks.stop());
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${CAST.admin}] }
policies:
  default: { approvers: [${CAST.alice}], notify: { direct_messages: false } }
tools:
  library:
    mcp: { url: "${tasks.url}", allow_private: ["127.0.0.1"] }
    approval: [ ${rule} ]
`;
  const story = await startStory({
    manifest,
    replies,
    timing: MORTAL,
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
  });
  const isNoted = (note: string, seen = 0) =>
    expect
      .poll(() => tasks.notes.slice(seen), { timeout: PATIENCE_MS })
      .toContainEqual(expect.stringContaining(note));
  const isFollowed = (seen = 0) => isNoted('get task-1', seen);
  /** Lets a bot that will be killed begin the task. */
  const startDoomed = async () => {
    const doomed = await startDoomedBot(story, manifest);
    const thread = story.ask('research rain');
    if (rule.includes('policy')) await thread.click(CAST.alice, /Approval needed/, 'approve');
    await isFollowed();
    return { doomed, thread };
  };
  const calls = () => tasks.notes.filter((note) => note === 'call').length;
  return { tasks, manifest, story, startDoomed, isNoted, isFollowed, calls };
}

describe.each<[string, () => Promise<Served>]>([
  ['2025-11-25', serveOlder],
  ['2026-07-28', serveCurrent],
])('a task of the protocol %s', (_protocol, serve) => {
  test.each(RULES)(
    '%s is picked up by its id after the bot was killed, and is not started again',
    async (_how, rule) => {
      const { tasks, story, startDoomed, isFollowed, calls } = await startTasks(serve, rule);
      const { doomed, thread } = await startDoomed();
      await doomed.kill();
      const seen = tasks.notes.length;
      await story.startOwnBot();
      await isFollowed(seen);
      tasks.complete();
      await thread.shows(/Reported\./);
      expect(story.toldOfCalls().join()).toContain('report of task-1');
      expect(calls()).toBe(1);
    },
  );

  test('is cancelled by Stop', async () => {
    const { story, isNoted, isFollowed } = await startTasks(serve, '{ require: never }', [RESEARCH]);
    await story.startOwnBot();
    const thread = story.ask('research rain');
    await isFollowed();
    story.ask('stop', { threadTs: thread.ts });
    await isNoted('cancel task-1');
    await thread.shows(/Outcome unknown/);
  });
});

test.each(RULES)(
  'a question of a running task, %s, is answered after the bot was killed, and the answer reaches the task',
  async (_how, rule) => {
    const { tasks, story, manifest, startDoomed, isFollowed, isNoted, calls } = await startTasks(
      serveCurrent,
      rule,
    );
    const { doomed, thread } = await startDoomed();
    const params = { mode: 'form', message: 'Who asks?', requestedSchema: NAME_FORM };
    tasks.set('task-1', {
      status: 'input_required',
      inputRequests: { who: { method: 'elicitation/create', params } },
    });
    await thread.shows(/Input needed: Who asks/);
    await story.deliveredAll();
    await doomed.kill();
    const second = await startDoomedBot(story, manifest);
    await fillIn(story, thread, /Input needed: Who asks/);
    if (rule.includes('policy')) await approveAnswer(thread);
    await isNoted('update task-1 who accept Remi 3');
    await second.kill();
    const seen = tasks.notes.length;
    await story.startOwnBot();
    await isFollowed(seen);
    tasks.complete();
    await thread.shows(/Reported\./);
    expect(story.toldOfCalls().join()).toContain('report of task-1');
    expect(calls()).toBe(1);
    // Killed before the record knew, the answer is sent again, and the task ignores it.
    expect(tasks.notes.filter((note) => note.startsWith('update') && !note.endsWith('ignored'))).toHaveLength(
      1,
    );
  },
);

test.each([
  ['rejected', 'decline'],
  ['withdrawn', 'cancel withdrawn'],
])('an answer to a task that is %s does not reach it: the task hears %s', async (end, told) => {
  const { tasks, story, isNoted, isFollowed } = await startTasks(serveCurrent, '{ policy: default }');
  await story.startOwnBot();
  const thread = story.ask('research rain');
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await isFollowed();
  const params = { mode: 'form', message: 'Who asks?', requestedSchema: NAME_FORM };
  const inputRequests = { who: { method: 'elicitation/create', params } };
  tasks.set('task-1', { status: 'input_required', inputRequests });
  await fillIn(story, thread, /Input needed: Who asks/);
  await thread.shows(ANSWER_CARD);
  if (end === 'rejected') {
    await thread.click(CAST.alice, ANSWER_CARD, 'reject');
    const modal = await story.modalFor(CAST.alice);
    await story.workspace.as(CAST.alice).submit(modal.id, { reason: 'no' });
  } else await thread.click(CAST.requester, ANSWER_CARD, 'withdraw');
  await isNoted(`update task-1 who ${told}`);
  tasks.complete();
  await thread.shows(/Reported\./);
  await thread.shows(new RegExp(`The question of library was ${end}`));
  expect(tasks.notes.join()).not.toContain('accept');
});

test('a task is followed after a process died in the moment between its record and its first look at it', async () => {
  const replies = [{ text: 'Reported.' }];
  const { tasks, story, isFollowed, calls } = await startTasks(serveCurrent, '{ require: never }', replies);
  const said = story.workspace.as(CAST.requester).send(PLACES.general, 'research rain');
  const thread = story.threadIn(PLACES.general, said.ts);
  const threadId = `${thread.channel}:${thread.ts}`;
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  const call = {
    toolRequest: { name: 'research', ref: 'call-1', input: { topic: 'rain' } },
    idempotencyKey: 'key-1',
  };
  const asked = userMessage('Remi: research rain', { user: CAST.requester, role: 'requester', ts: said.ts });
  const called = sealMessage({ v: MESSAGE_VERSION, role: 'model', content: [call] });
  const pause = { kind: 'task', server: 'library', definition: 'any', taskId: 'task-1' };
  tasks.set('task-1', { status: 'working' });
  await store.enqueue(threadId, { id: said.ts, body: { user: CAST.requester, text: 'research rain' } });
  const claimed = await store.claimTurn(threadId, 60_000);
  if (claimed.outcome !== 'claimed') throw new Error(claimed.outcome);
  const run = { ref: 'call-1', run: 'first', evidence: {} };
  await store.startEffect(claimed.turn, {
    ...{ ...run, tool: 'research', logged: 0, messages: [asked, called], read: 1 },
  });
  await store.finishEffect(claimed.turn, {
    ...{ ...run, end: 'paused', part: waitingPart(call, { metadata: { mcp: pause } }) },
  });
  await store.release(claimed.turn);

  await story.startOwnBot();
  await isFollowed();
  tasks.complete();
  await thread.shows(/Reported\./);
  expect(story.toldOfCalls().join()).toContain('report of task-1');
  expect(calls()).toBe(0);
});
