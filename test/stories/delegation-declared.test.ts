import { expect, test } from 'vitest';
import { delegationsIn, readDelegations } from '../../src/store/documents/delegations.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { command, DORA, delegate, EVAN, ONE, refund, refunded, shown, slack } from './delegating.ts';
import { CAST, startStory } from './support.ts';

const { admin, alice } = CAST;
const declared = (more = '') =>
  `${ONE}delegations: [{ from: ${alice}, to: ${DORA}, until: "2099-01-01"${more} }]\n`;
const replies = [refund, { text: 'Refunded.' }];

test('an admin lets somebody decide for an approver in the manifest: they approve in her place, and card and log name both', async () => {
  const story = await startStory({ manifest: declared(), slack, replies });
  const thread = story.ask('refund order A-1001');
  await story.directly(DORA).click(DORA, /Approval needed[\s\S]*you decide for/, 'approve');
  await thread.shows(/pproved by [\s\S]*U0DORA0007[\s\S]* for [\s\S]*U0ALICE002/);
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);
  const rows: string[] = [];
  for await (const { event, detail, body } of openRedisStore({
    client: story.redis,
    prefix: story.prefix,
  }).exportAudit())
    rows.push(`${event} ${detail} ${body}`);
  expect(rows).toContainEqual(
    expect.stringMatching(/^delegated manifest-\w+ U0DORA0007 until .*"declared":true/),
  );
  expect(rows).toContainEqual(expect.stringMatching(`^voted approve ${DORA} 1 of 1 for ${alice}`));
});

test('one for another policy does not count, nobody ends one in Slack, and what a person gives themselves comes first', async () => {
  const other = 'policies:\n  other: { approvers: [U0ADMIN004], delegation: true }';
  const manifest = declared(', policies: [other]').replace('policies:', other);
  const story = await startStory({ manifest, slack, replies });
  const thread = story.ask('refund order A-1001');
  await thread.click(DORA, /Approval needed/, 'approve');
  await story.noticeFor(DORA, /can approve this/);
  await command(story, alice, 'delegate stop');
  await shown(story, alice, /only the manifest ends it/);
  await delegate(story, alice, EVAN);
  await story.directly(EVAN).click(EVAN, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
});

test('a changed manifest ends what it declared before, once for all processes, and leaves what people gave', async () => {
  const story = await startStory({ manifest: ONE, slack });
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  const until = Date.now() + 60_000;
  await delegationsIn(store).delegate({ id: 'own', from: admin, to: EVAN, until, reason: '', evidence: {} });
  const first = { from: alice, to: DORA, until, policies: ['default'] };
  await Promise.all([delegationsIn(store).adopt([first]), delegationsIn(store).adopt([first])]);
  await delegationsIn(store).adopt([{ ...first, from: admin, policies: undefined }, first]);
  expect(await readDelegations(store)).toMatchObject([
    { id: 'own' },
    { from: alice, to: DORA, declared: true, policies: ['default'] },
  ]);
  await delegationsIn(store).adopt([
    { ...first, to: EVAN },
    { ...first, from: DORA, until: Date.now() - 1 },
  ]);
  expect(await readDelegations(store)).toMatchObject([{ id: 'own' }, { from: alice, to: EVAN }]);
  await delegationsIn(store).adopt([]);
  expect(await readDelegations(store)).toMatchObject([{ id: 'own' }]);
  const ends: string[] = [];
  for await (const { event } of store.exportAudit()) if (/^delegat/.test(event)) ends.push(event);
  expect(ends).toEqual(['delegated', 'delegated', 'delegation-ended', 'delegated', 'delegation-ended']);
});
