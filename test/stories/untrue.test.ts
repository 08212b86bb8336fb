import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { viewOf } from '../../src/page/request-view.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { manifest as governed, startGoverned } from './governed.ts';
import { refund, manifest as summarizing } from './summarizing.ts';
import { CAST, startStory } from './support.ts';

const { alice, requester: remi } = CAST;

/** Where each sentence that was once untrue is held: the file, and the beginning of its test. */
const HELD = [
  [
    'a rejection that counts less than all is on the card with its reason',
    'stories/votes.test.ts',
    'a rejection that does not end',
  ],
  ['an approval may have a comment', 'stories/votes.test.ts', 'an approval may have a comment'],
  [
    'no ✅ on what was declined and not booked',
    'stories/paused-actions.test.ts',
    'a declined question is on the card',
  ],
  [
    'no ✓ in the steps on what was only sent for approval',
    'stories/conversation.test.ts',
    'a turn that takes long shows its steps',
  ],
  [
    'what was undone is not headed by what was done',
    'stories/undo.test.ts',
    'Undo asks for the reverse call',
  ],
  [
    'an amount is edited by the hint of its format only',
    'bot/views/modals/forms.test.ts',
    'reads what people write',
  ],
  [
    'the button says which approval it is, and its dialog what the card says',
    'stories/friction.test.ts',
    'the button of a dialog',
  ],
  [
    'what one edited does not wait for one, and a row has one mark',
    'stories/home.test.ts',
    'what a person has edited',
  ],
  ['a summary counts what it lists', 'stories/untrue.test.ts', 'a summary says that it counts'],
  ['a pre-approval says what was left at that time', 'stories/grants.test.ts', 'one who approves may allow'],
  ['what is awaited has not happened', 'stories/callback.test.ts', 'a thread waits for a report'],
  [
    'the page has one time zone and follows by itself',
    'browser/page.test.ts',
    'what is open follows by itself',
  ],
  [
    'a vote is no decision, and a what-if is about somebody',
    'page/views.test.ts',
    'while a request waits its votes',
  ],
  ['a limit is told as the cards show it', 'stories/limits.test.ts', 'a limit on an amount is told'],
  ['a limit is exceeded, not reached', 'stories/limits.test.ts', 'a call over the limit of its requester'],
  [
    'a change of the rules takes effect and can be changed back',
    'stories/untrue.test.ts',
    'a change of the rules',
  ],
  ['the shop shows what was refunded before', 'stories/untrue.test.ts', 'the second refund'],
  [
    'no warning about passkeys once there is one',
    'page/passkeys.test.ts',
    'with Slack sign-in a new key counts',
  ],
  [
    'Approve is the last block, on the last page',
    'bot/views/modals/modals.test.ts',
    'goes on over pages, and Approve',
  ],
] as const;

test.each(HELD)('a test holds that %s', (_what, file, name) => {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  expect(text).toMatch(new RegExp(`test\\(\\s*'${name}`));
});

test('the second refund of an order in the shop says what was paid, what was refunded before, and what remains', async () => {
  const shop = fileURLToPath(new URL('../../examples/shop', import.meta.url));
  const story = await startStory({
    manifest: readFileSync(`${shop}/manifest.yml`, 'utf8'),
    environment: { RELEASE_JOB_KEY: 'k'.repeat(43), PAGE_CLIENT_SECRET: 's'.repeat(43) },
    folder: shop,
    replies: [refund('A-1001', 12_000), { text: 'Refunded.' }, refund('A-1001', 14_000)],
  });
  const first = story.ask('refund it');
  await first.shows(
    /Hooper Ltd paid \$450\.00, refunded \$0\.00, \$450\.00 left[\s\S]*\$120\.00 more refunded/,
  );
  await first.click(alice, /Approval needed/, 'approve');
  await first.shows(/Refunded\./);
  await story
    .ask('and again')
    .shows(/paid \$450\.00, refunded \$120\.00, \$330\.00 left[\s\S]*\$140\.00 more refunded/);
});

test('a change of the rules does not say that it runs or cannot be undone, on its card and on the page', async () => {
  const story = await startGoverned();
  const bot = await story.start(governed(2));
  bot.write(governed(1));
  const { blocks } = await story.card();
  const card = JSON.stringify(blocks);
  const untrue = /can't be undone|Once run|nothing runs|does not run/;
  expect(card).toContain(
    'Once approved, the new rules hold at once. Another change can put the old ones back.',
  );
  expect(card).not.toMatch(untrue);
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  const id = blocks.find(({ type }) => type === 'actions')?.block_id ?? '';
  const loaded = await store.load(id);
  if (loaded.outcome !== 'found') throw new Error(`there is no request ${id}`);
  const { terms } = viewOf(loaded.request);
  expect(terms).toContainEqual({ label: 'If rejected', text: 'the rules stay' });
  expect(JSON.stringify(terms)).not.toMatch(untrue);
});

test('a summary says that it counts its own list, beside what has a message of its own and all that Home has', async () => {
  const story = await startStory({
    manifest: summarizing('notify: { load: { summary: { after: 1, within: 10m } } }'),
    replies: ['A-1001', 'A-1002', 'A-1003'].map((order) => refund(order)),
  });
  for (const order of ['A-1001', 'A-1002', 'A-1003']) {
    const thread = story.ask(`refund ${order}`, { as: remi });
    await thread.shows(/Approval needed/);
  }
  await story.directly(alice).shows(/2 requests in this list wait for you/);
  story.workspace.as(alice).openHome();
  await story.workspace.until(
    () => JSON.stringify(story.workspace.homeOf(alice)?.blocks ?? []).includes('Waiting for you (3)'),
    { what: 'Home' },
  );
});
