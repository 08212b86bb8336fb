import { describe, expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { ask, askingManifest, type Protocol } from './asking-servers.ts';
import { CAST, startStory } from './support.ts';

const { requester: remi, alice } = CAST;
const FILLED = { 'field-0': 'Remi', 'field-1': '3' };
const APPROVED = { rule: '{ policy: default }' };

type Story = Awaited<ReturnType<typeof startStory>>;
type Thread = ReturnType<Story['ask']>;

async function fillIn(
  story: Story,
  thread: Thread,
  question: RegExp,
  values: Record<string, string> = FILLED,
) {
  await thread.click(remi, question, 'fill-in');
  const modal = await story.modalFor(remi);
  return story.workspace.as(remi).submit(modal.id, values);
}

/** All that people can read in a thread now. */
function shownIn(story: Story, thread: Thread): string {
  return JSON.stringify(story.repliesIn(thread).map(({ text, blocks }) => ({ text, blocks })));
}

/** All events of the audit log. */
async function auditEvents({ redis, prefix }: Story): Promise<string[]> {
  const events: string[] = [];
  for await (const { event } of openRedisStore({ client: redis, prefix }).exportAudit()) events.push(event);
  return events;
}

/** The states of the approval of a call, by its audit rows, and its record now. */
async function recordOf({ redis, prefix }: Story) {
  const store = openRedisStore({ client: redis, prefix });
  const events: string[] = [];
  let approval = '';
  for await (const { event, subject, detail } of store.exportAudit()) {
    if (event === 'asked' && detail === 'approval' && approval === '') approval = subject;
    if (subject === approval && event !== 'voted') events.push(event);
  }
  const loaded = await store.load(approval);
  if (loaded.outcome !== 'found') throw new Error(loaded.outcome);
  return { events, request: loaded.request };
}

describe.each<Protocol>(['current', 'older'])('an approved call of the %s protocol', (protocol) => {
  test('says whom it waits for while its server asks, and then how it ended', async () => {
    const { manifest } = askingManifest(protocol, APPROVED);
    const story = await startStory({ manifest, replies: [ask('book_table'), { text: 'Booked.' }] });
    const thread = story.ask('book a table');
    await thread.click(alice, /Approval needed/, 'approve');
    const waiting = await thread.shows(/Waiting for .* to answer bookings/);
    expect(JSON.stringify(waiting.blocks)).toContain(remi);
    expect(await recordOf(story)).toMatchObject({
      events: ['asked', 'approved', 'started', 'paused'],
      request: { state: 'paused' },
    });
    await fillIn(story, thread, /Input needed/);
    await thread.shows(/Booked\./);
    await thread.shows(/Done: /);
    await story.deliveredAll();
    expect(shownIn(story, thread)).not.toContain('to answer bookings');
    const { events, request } = await recordOf(story);
    expect(events).toEqual(['asked', 'approved', 'started', 'paused', 'succeeded']);
    expect(request).toMatchObject({ state: 'succeeded', by: alice });
    expect(request.payload).toContain('booked: accept Remi 3');
  });

  test('that was not answered says so, and is not done', async () => {
    const { manifest } = askingManifest(protocol, APPROVED);
    const story = await startStory({ manifest, replies: [ask('book_table'), { text: 'Left it.' }] });
    const thread = story.ask('book a table');
    await thread.click(alice, /Approval needed/, 'approve');
    await thread.shows(/Waiting for .* to answer bookings/);
    await thread.click(remi, /Input needed/, 'withdraw');
    await thread.shows(/Left it\./);
    await thread.shows(
      protocol === 'current'
        ? /Ended without an answer to bookings/
        : /Failed: [\s\S]*question was withdrawn/,
    );
    expect(shownIn(story, thread)).not.toMatch(/Done: |"text":"Done /);
  });
});

describe.each<Protocol>(['current', 'older'])('an approved call of the %s protocol', (protocol) => {
  test.each([
    { button: 'ran', ends: 'succeeded', shows: /Done: /, told: /"ran"/ },
    { button: 'did-not-run', ends: 'failed', shows: /Failed: /, told: /"did-not-run"/ },
  ])(
    'whose server dies after the answer is unknown, and ends as a person finds out: $button',
    async (way) => {
      const { manifest, notes } = askingManifest(protocol, APPROVED);
      const story = await startStory({ manifest, replies: [ask('book_table'), { text: 'I see.' }] });
      const thread = story.ask('book a table');
      await thread.click(alice, /Approval needed/, 'approve');
      await thread.shows(/Waiting for .* to answer bookings/);
      await fillIn(story, thread, /Input needed/, { ...FILLED, 'field-0': 'Crash' });
      await thread.shows(/Outcome unknown: [\s\S]*It ran[\s\S]*It didn't run/);
      await thread.shows(/We don't know whether this completed\. Who can confirm it is asked in this thread/);
      await story.deliveredAll();
      expect(shownIn(story, thread)).not.toMatch(/Done: |Failed: /);
      expect(await recordOf(story)).toMatchObject({
        events: ['asked', 'approved', 'started', 'paused', 'paused'],
        request: { state: 'paused', payload: '{"paused":"unknown"}' },
      });
      expect(await auditEvents(story)).toContain('unknown');
      expect(story.model.requests).toHaveLength(1);

      await thread.click(alice, /Outcome unknown: /, way.button);
      const modal = await story.modalFor(alice);
      await story.workspace.as(alice).submit(modal.id, { reason: 'I looked at the list.' });
      await thread.shows(/I see\./);
      await thread.shows(/Outcome confirmed: [\s\S]*I looked at the list/);
      await thread.shows(way.shows);
      expect(story.toldOfCalls().at(-1)).toMatch(way.told);
      const { events, request } = await recordOf(story);
      expect(events).toEqual(['asked', 'approved', 'started', 'paused', 'paused', way.ends]);
      expect(request).toMatchObject({ state: way.ends, by: alice });
      expect(notes().filter((line) => line.startsWith('booked'))).toHaveLength(1);
    },
  );
});

test('a declined question is on the card of the approved call', async () => {
  const { manifest } = askingManifest('current', APPROVED);
  const story = await startStory({ manifest, replies: [ask('book_table'), { text: 'Not then.' }] });
  const thread = story.ask('book a table');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.click(remi, /Input needed/, 'decline');
  await thread.shows(/Not then\./);
  await thread.shows(/Ended without an answer to bookings: declined/);
});

test('a call whose policy changed before the answer is replaced on record, and only the new one is approved', async () => {
  const { manifest } = askingManifest('current', APPROVED);
  const story = await startStory({ manifest, withoutBot: true, replies: [ask('book_table')] });
  const first = await story.startOwnBot();
  const thread = story.ask('book a table');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Waiting for .* to answer bookings/);
  const { policies, ...rest } = first.toolbox.manifest;
  const policy = policies.get('default');
  if (policy === undefined) throw new Error('no policy');
  await first.toolbox.replace({
    ...rest,
    policies: new Map([['default', { ...policy, expiresMs: 7_000_000 }]]),
  });
  await fillIn(story, thread, /Input needed/);
  await thread.shows(/0 of 1 approvals/);
  await thread.shows(/Replaced: /);
  expect((await recordOf(story)).request.state).toBe('superseded');
});
