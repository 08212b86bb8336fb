import { expect, test } from 'vitest';
import { CAST, startStory } from '../stories/support.ts';
import { openWorkshop, workshopManifest } from '../stories/workshop.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { recordingLogger, stepsIn } from './support.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

test('each step of an approved request is one line with the ids of the request, the thread and one trace', async () => {
  const { logger, lines } = recordingLogger();
  const story = await startStory({
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    withoutBot: true,
  });
  await story.startOwnBot({ logger });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.alice, /approvals?/, 'approve');
  await thread.shows(/Refunded\./);
  expect(stepsIn(lines)).toEqual([
    'request asked',
    'request voted',
    'request approved',
    'request started',
    'request succeeded',
  ]);
  const steps = lines.filter(({ msg }) => msg.startsWith('request '));
  const [asked] = steps;
  expect(asked).toMatchObject({
    threadId: `${thread.channel}:${thread.ts}`,
    requestId: expect.stringContaining(`${thread.channel}:${thread.ts}~`),
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    tool: 'refund_order',
    policy: 'default',
    requester: CAST.requester,
  });
  for (const step of nonEmpty(steps))
    expect(step).toMatchObject({ requestId: asked?.requestId, traceId: asked?.traceId });
  expect(steps[1]).toMatchObject({ detail: `approve ${CAST.alice} 1 of 1` });
  const answers = lines.filter(({ msg }) => msg === 'model answered');
  expect(answers).toHaveLength(2);
  for (const line of nonEmpty(answers)) expect(line.traceId).toBe(asked?.traceId);
  expect(JSON.stringify(lines)).not.toContain('A-1001');
});

test('a vote that does not decide has a line and is no transition, and a repeated click has no line', async () => {
  const { logger, lines } = recordingLogger();
  const deletion = { name: 'delete_customer', arguments: { customer: 'Hooper Ltd' } };
  const story = await startStory({
    replies: [{ calls: [deletion] }, { text: 'Gone.' }],
    withoutBot: true,
  });
  const bot = await story.startOwnBot({ logger });
  const thread = story.ask('delete Hooper Ltd');
  await thread.click(CAST.alice, /approvals?/, 'approve');
  await thread.shows(/1 of 2/);
  await thread.click(CAST.alice, /approvals?/, 'approve');
  await story.noticeFor(CAST.alice, /already approved/);
  await thread.click(CAST.bruno, /approvals?/, 'approve');
  await thread.shows(/Gone\./);
  expect(stepsIn(lines)).toEqual([
    'request asked',
    'request voted',
    'request voted',
    'request approved',
    'request started',
    'request succeeded',
  ]);
  const metrics = await bot.context.metrics.text();
  const counted = metrics
    .match(/^countersign_request_transitions_total.*$/gm)
    ?.map((line) => line.split(' ')[1]);
  expect(counted).toEqual(['1', '1', '1', '1']);
});

test('an action whose worker fell silent is a warning', async () => {
  const { logger, lines } = recordingLogger();
  const workshop = await openWorkshop();
  await workshop.hold('after');
  const story = await startStory({
    manifest: workshopManifest(),
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Good to know.' }],
    timing: { heartbeatTimeoutMs: 1_500, heartbeatMs: 3_600_000 },
    sweep: { everyMs: 100, overdueMs: 0 },
    withoutBot: true,
  });
  await story.startOwnBot({ logger });
  const thread = story.ask('press a part');
  await thread.click(CAST.alice, /Approve/, 'approve');
  await thread.shows(/Outcome unknown: Press part/);
  const step = lines.find(({ msg }) => msg === 'request unknown');
  expect(step).toMatchObject({ level: 40, tool: 'press_part' });
  await thread.click(CAST.admin, /Outcome unknown: Press part/, 'ran');
  const modal = await story.modalFor(CAST.admin);
  await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'It lies on the bench.' });
  await thread.shows(/Good to know\./);
  expect(lines.find(({ msg }) => msg === 'request resolved')).toMatchObject({
    detail: `ran ${CAST.admin}`,
    traceId: step?.traceId,
  });
  await workshop.release('after');
});

test('a stop says what it waits for, and that it has stopped', async () => {
  const { logger, lines } = recordingLogger();
  const workshop = await openWorkshop();
  await workshop.hold('after');
  const story = await startStory({
    manifest: workshopManifest(),
    replies: [{ calls: [workshop.call('press_part')] }],
    withoutBot: true,
  });
  const bot = await story.startOwnBot({ logger });
  const thread = story.ask('press a part');
  await thread.click(CAST.alice, /Approve/, 'approve');
  await workshop.has(1, 'effects');
  const stopped = bot.stop();
  const isStopping = () => lines.find(({ msg }) => msg.startsWith('stopping'));
  await expect.poll(isStopping).toBeDefined();
  expect(isStopping()).toMatchObject({ threads: [`${thread.channel}:${thread.ts}`] });
  expect(lines.map(({ msg }) => msg)).not.toContain('stopped');
  await workshop.release('after');
  await stopped;
  expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
});
