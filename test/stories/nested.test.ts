import { expect, test } from 'vitest';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { actionsIn, textIn } from '../bot/views/cards/payloads.ts';
import { clickCard } from '../support/click-card.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

test('a pause inside a nested generate after the approval is asked as a request of its own, and continues from there', async () => {
  const workshop = await openWorkshop();
  const inner = await startLocalModel({
    script: [
      { calls: [{ name: 'book_room', arguments: { room: 'Ballroom' } }] },
      { text: 'The room is booked.' },
    ],
  });
  const { arguments: folder } = workshop.call('plan_party');
  const story = await startStory({
    manifest: workshopManifest()
      .replace('workshop-tools.ts,', 'nested-tools.ts, reversible: yes,')
      .replace('approval: { policy: default }', 'approval: [{ when: first.tool, policy: default }]'),
    replies: [
      { calls: [{ name: 'plan_party', arguments: { ...folder, url: inner.url } }] },
      { text: 'All set.' },
    ],
  });
  const thread = story.ask('plan a party');
  const card = await thread.shows(/Approval needed[\s\S]*this can be undone/);
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  const isSecond = () =>
    story
      .repliesIn(thread)
      .find(({ ts, blocks }) => ts !== card.ts && JSON.stringify(blocks).includes('Needs 1 approval'));
  const second = await story.workspace.until(isSecond, { what: 'a second card' });
  expect(await workshop.linesOf('effects')).toEqual([]);
  const shown = textIn(second.blocks);
  expect(shown).toContain('Book room, inside: Plan party');
  // The worst step counts, and of the one inside nothing is known.
  expect(shown).toContain("this can't be undone");
  expect(shown).toContain('book_room: {"room": "Ballroom"}');
  expect(actionsIn(second.blocks)).not.toContain('edit');
  await clickCard(story.workspace, CAST.alice, { channel: thread.channel, ts: second.ts }, 'details');
  const rows: string[] = [];
  for await (const { event, body } of openRedisStore({
    client: story.redis,
    prefix: story.prefix,
  }).exportAudit())
    if (event === 'asked') rows.push(body);
  expect(rows[1]).toContain('"inner":[{"arguments":{"room":"Ballroom"},"tool":"book_room"}]');
  const details = textIn((await story.modalFor(CAST.alice, /Ballroom/)).blocks);
  expect(details).toContain('book_room: {"room": "Ballroom"}');
  expect(details).toContain('"inside plan_party": {');
  await story.workspace.as(CAST.bruno).click({ channel: thread.channel, ts: second.ts }, 'approve');
  await thread.shows(/All set\./);
  expect(await workshop.linesOf('effects')).toEqual(['booked Ballroom']);
  expect(story.toldOfCalls()).toEqual([expect.stringContaining('The room is booked.')]);
  expect(JSON.stringify(story.repliesIn(thread))).not.toMatch(/plan_party: unknown/);
  // The call inside counts for no first time, and the one around it once.
  expect(await story.redis.keys(`{${story.prefix}}:limit:first *`)).toEqual([
    `{${story.prefix}}:limit:first plan_party - ${CAST.requester}`,
  ]);
  await inner.stop();
});
