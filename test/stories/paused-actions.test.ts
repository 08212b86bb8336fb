import { describe, expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { approveAnswer, fillIn, type Protocol, startApproved, startChanged } from './asking-servers.ts';
import { CAST, type Story, type Thread } from './support.ts';

const { requester: remi, alice } = CAST;

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
    const { story, thread } = await startApproved(protocol, 'book_table', 'Booked.');
    const waiting = await thread.shows(/Waiting for .* to answer bookings/);
    expect(JSON.stringify(waiting.blocks)).toContain(remi);
    expect(await recordOf(story)).toMatchObject({
      events: ['asked', 'approved', 'started', 'paused'],
      request: { state: 'paused' },
    });
    await fillIn(story, thread, /Input needed/);
    await approveAnswer(thread);
    await thread.shows(/Booked\./);
    await thread.shows(/Done: /);
    await story.deliveredAll();
    expect(shownIn(story, thread)).not.toContain('to answer bookings');
    const { events, request } = await recordOf(story);
    expect(events).toEqual(['asked', 'approved', 'started', 'paused', 'paused', 'succeeded']);
    expect(request).toMatchObject({ state: 'succeeded', by: alice });
    expect(request.payload).toContain('booked: accept Remi 3');
  });

  test('that was not answered says so, and is not done', async () => {
    const { story, thread } = await startApproved(protocol, 'book_table', 'Left it.');
    await thread.shows(/Waiting for .* to answer bookings/);
    await thread.click(remi, /Input needed/, 'withdraw');
    await thread.shows(/Left it\./);
    await thread.shows(
      protocol === 'current'
        ? /The question of bookings was withdrawn, so this may not have been done/
        : /Failed: [\s\S]*question was withdrawn/,
    );
    expect(shownIn(story, thread)).not.toMatch(/Done: |"text":"Done /);
  });

  test.each([
    { button: 'ran', ends: 'succeeded', shows: /Done: /, told: /"ran"/ },
    { button: 'did-not-run', ends: 'failed', shows: /Failed: /, told: /"did-not-run"/ },
  ])(
    'whose server dies after the answer is unknown, and ends as a person finds out: $button',
    async (way) => {
      const { story, thread, notes } = await startApproved(protocol, 'book_table', 'I see.');
      await thread.shows(/Waiting for .* to answer bookings/);
      await fillIn(story, thread, /Input needed/, { 'field-0': 'Crash', 'field-1': '3' });
      await approveAnswer(thread);
      await thread.shows(/Outcome unknown: [\s\S]*It ran[\s\S]*It didn't run/);
      await story.deliveredAll();
      // The card of the call leads to the request whose outcome is unknown, and waits for nobody by itself.
      await thread.shows(/Started, continues with the answer to bookings in this thread/);
      expect(shownIn(story, thread)).not.toMatch(/Done: |Failed: |Waiting for/);
      expect(await recordOf(story)).toMatchObject({
        events: ['asked', 'approved', 'started', 'paused', 'paused'],
        request: { state: 'paused', payload: '{"paused":"answer","server":"bookings"}' },
      });
      expect(await auditEvents(story)).toContain('unknown');
      expect(story.model.requests).toHaveLength(1);

      await thread.click(alice, /Outcome unknown: /, way.button);
      const modal = await story.modalFor(alice);
      await story.workspace.as(alice).submit(modal.id, { reason: 'I looked at the list.' });
      await thread.shows(/I see\./);
      await thread.shows(/(?:Ran|Did not run): [\s\S]*I looked at the list/);
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
  const { story, thread } = await startApproved('current', 'book_table', 'Not then.');
  await thread.click(remi, /Input needed/, 'decline');
  await thread.shows(/Not then\./);
  const card = await thread.shows(/The question of bookings was declined, so this may not have been done/);
  // Nothing was booked, so no mark and no row of a list says that it was.
  expect(JSON.stringify(card.blocks)).toContain('"text":"⚪ "');
  story.workspace.as(remi).openHome();
  const home = await story.workspace.until(
    () => {
      const shown = JSON.stringify(story.workspace.homeOf(remi)?.blocks ?? []);
      return /⚪ /.test(shown) ? shown : undefined;
    },
    { what: 'Home' },
  );
  expect(home).not.toContain('✅');
});

test('a call whose policy changed before the answer is replaced on record, and only the new one is approved', async () => {
  const { story, thread } = await startChanged();
  await fillIn(story, thread, /Input needed/);
  await thread.shows(/Needs 1 approval/);
  await thread.shows(/Replaced: /);
  expect((await recordOf(story)).request.state).toBe('superseded');
});
