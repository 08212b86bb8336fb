import { expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST, MANIFEST, type Story, startStory, type Thread } from './support.ts';

const slack = { app: { commands: ['/countersign'] } };
const refund = (amount: number, orderId = 'A-1001') => ({
  calls: [{ name: 'refund_order', arguments: { orderId, amount, reason: 'damaged' } }],
});
const withGrants = (terms: string, policy = 'default') =>
  MANIFEST.replace(`  ${policy}: {`, `  ${policy}: { grants: ${terms},`).replace(
    'approval: [{ policy: default, when: "input.amount > 10000" }, { require: never }]',
    `approval: { policy: ${policy} }`,
  );

/** Approves the card of a thread and allows the same again. */
async function allow(story: Story, thread: Thread, who: string): Promise<string> {
  const card = await thread.shows(/Approval needed/);
  const person = story.workspace.as(who);
  await person.choose({ channel: thread.channel, ts: card.ts }, 'more', 'approve-grant');
  const modal = await story.modalFor(who, /without asking anyone/);
  await person.submit(modal.id, {});
  return JSON.stringify(modal.blocks);
}

async function rowsOf({ redis, prefix }: Story, event: string) {
  const rows: { subject: string; body: unknown }[] = [];
  for await (const row of openRedisStore({ client: redis, prefix }).exportAudit())
    if (row.event === event) rows.push({ subject: row.subject, body: JSON.parse(row.body || '{}') });
  return rows;
}

const refundedOf = async ({ ledger }: Story, order = 'A-1001') => (await ledger.order(order))?.refunded ?? 0;

test('one who approves may allow the same again: the dialog says the exact scope, each use names it in the thread and the audit log, and the uses end', async () => {
  const story = await startStory({
    manifest: withGrants('{ for: 2h, uses: 2, when: "input.amount <= 500" }'),
    replies: [
      refund(400),
      { text: 'One.' },
      refund(300),
      { text: 'Two.' },
      refund(600),
      { text: 'Three.' },
      refund(200),
      { text: 'Four.' },
      refund(100),
    ],
  });
  const thread = story.ask('refund 4');
  const words = await allow(story, thread, CAST.alice);
  expect(words).toContain('For 2 hours, up to 2 more calls of “Refund order” run without asking anyone');
  expect(words).toContain('in this thread only');
  await thread.shows(/One\./);
  await thread.shows(/Also pre-approved at that time: up to 2 more calls within 2 hours/);
  expect(await refundedOf(story)).toBe(400);

  story.ask('refund 3', { threadTs: thread.ts });
  await thread.shows(/✅ Refund order A-1001: amount 300[^"]* · pre-approved by <@\w+> \(1 of 2\)/);
  await thread.shows(/Two\./);
  expect(await refundedOf(story)).toBe(700);
  // What the condition does not cover is asked as ever.
  story.ask('refund 6', { threadTs: thread.ts });
  await thread.click(CAST.bruno, /Approval needed.*6\.00|Approval needed[\s\S]*600/, 'approve');
  await thread.shows(/Three\./);
  story.ask('refund 2', { threadTs: thread.ts });
  await thread.shows(/pre-approved by <@\w+> \(2 of 2\)/);
  await thread.shows(/Four\./);
  story.ask('refund 1', { threadTs: thread.ts });
  await thread.shows(/Approval needed[\s\S]*100/);
  const [granted] = await rowsOf(story, 'grant-opened');
  expect(granted?.body).toMatchObject({
    tool: 'refund_order',
    requesters: [CAST.requester],
  });
  const effects = await rowsOf(story, 'effect-started');
  expect(effects.map(({ body }) => body)).toMatchObject([
    { granted: { by: [CAST.alice], uses: 2 } },
    { granted: { by: [CAST.alice], uses: 2 } },
  ]);
  expect(await rowsOf(story, 'grant-used')).toHaveLength(2);
});

test('a grant of a thread is for its people in that thread and for the same arguments, and the whole quorum has to sign it', async () => {
  const story = await startStory({
    manifest: withGrants('{ for: 2h, uses: 5 }', 'two'),
    replies: [
      refund(400),
      { text: 'One.' },
      refund(400),
      refund(400),
      { text: 'Two.' },
      refund(401),
      refund(400),
    ],
  });
  const alone = story.ask('refund 4');
  await allow(story, alone, CAST.alice);
  await alone.click(CAST.bruno, /1 of 2 approvals/, 'approve');
  await alone.shows(/One\./);
  expect(await rowsOf(story, 'granted')).toEqual([]);

  const thread = story.ask('refund 4');
  await allow(story, thread, CAST.alice);
  await thread.shows(/1 of 2 approvals/);
  await allow(story, thread, CAST.bruno);
  // The model reads the result of the approved call, and calls again.
  await thread.shows(/pre-approved by .*\(1 of 5\)/);
  await thread.shows(/Two\./);
  story.ask('refund 4.01', { threadTs: thread.ts });
  await thread.shows(/Approval needed[\s\S]*401/);
  await story.ask('refund 4').shows(/Approval needed/);
  expect(await refundedOf(story)).toBe(1_200);
});

test('a grant is listed and revoked, by the command, in App Home or on the card, and then the call is asked for again', async () => {
  const story = await startStory({
    manifest: withGrants('{ for: 2h, uses: 5, scope: requester }'),
    slack,
    replies: [refund(400), { text: 'One.' }, refund(400), { text: 'Two.' }, refund(400)],
  });
  const thread = story.ask('refund 4');
  await allow(story, thread, CAST.alice);
  await thread.shows(/One\./);
  const other = story.ask('refund 4');
  await other.shows(/pre-approved by .*\(1 of 5\)/);
  await other.shows(/Two\./);
  const alice = story.workspace.as(CAST.alice);
  await alice.command('/countersign', 'grants');
  const listed = await story.noticeFor(CAST.alice, /Pre-approved actions/);
  expect(JSON.stringify(listed.blocks)).toContain('4 of 5 left');
  alice.openHome();
  await story.workspace.until(
    () => JSON.stringify(story.workspace.homeOf(CAST.alice)?.blocks ?? []).includes('Pre-approved actions'),
    { what: 'the grant in App Home' },
  );
  await thread.click(CAST.bruno, /Also pre-approved/, 'revoke-grant');
  await story.noticeFor(CAST.bruno, /Pre-approval ended\. It was used 1 time\./);
  const card = await thread.shows(/Pre-approval ended by/);
  expect(JSON.stringify(card.blocks)).not.toContain('revoke-grant');
  await story.ask('refund 4').shows(/Approval needed/);
  expect(await refundedOf(story)).toBe(800);
});

test('a grant is void when its policy changes, and a high-risk call never has one', async () => {
  const manifest = withGrants('{ for: 2h, uses: 5, scope: requester }');
  const story = await startStory({
    manifest: manifest.replace('grants:', `risk: "input.amount > 1000 ? 'high' : 'low'", grants:`),
    replies: [refund(2_000), refund(400), { text: 'One.' }, refund(400)],
  });
  const high = await story.ask('refund 20').shows(/Approval needed/);
  expect(JSON.stringify(high.blocks)).not.toContain('approve-grant');
  const thread = story.ask('refund 4');
  await allow(story, thread, CAST.alice);
  await thread.shows(/One\./);
  const { redis, prefix } = story;
  const [grant] = await openRedisStore({ client: redis, prefix }).listGrants();
  const stored = { ...grant?.details, policyDigest: 'that of another policy' };
  const text = `1 ${grant?.expiresAt} ${grant?.uses} ${JSON.stringify(stored)}`;
  await redis.hset(`{${prefix}}:grants`, `grant|${grant?.id}`, text);
  await story.ask('refund 4').shows(/Approval needed/);
});

test('a use says what was done, and the list what is covered, in the words of the card', async () => {
  const story = await startStory({
    manifest: withGrants('{ for: 2h, uses: 5, when: "input.amount <= 500" }').replace(
      'refund-order.ts, ',
      `refund-order.ts, title: "Refund {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}", done: "Refunded {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}", `,
    ),
    slack,
    replies: [
      refund(400),
      { text: 'One.' },
      refund(300),
      { text: 'Two.' },
      refund(200, 'A-9999'),
      { text: 'Three.' },
    ],
  });
  const thread = story.ask('refund 4');
  expect(await allow(story, thread, CAST.alice)).toContain(
    'as long as this holds: any order id, any reason, amount is at most $5.00, for the same people',
  );
  await thread.shows(/One\./);
  story.ask('refund 3', { threadTs: thread.ts });
  await thread.shows(/^✅ Refunded \$3\.00 of order A-1001 · pre-approved by <@U0ALICE002> \(1 of 5\)/);
  await thread.shows(/Two\./);
  // What is known not to have happened is not told as done.
  story.ask('refund 2 of another order', { threadTs: thread.ts });
  await thread.shows(/^❌ Refund \$2\.00 of order A-9999 failed · pre-approved by <@U0ALICE002> \(2 of 5\)/);
  await thread.shows(/Three\./);
  await story.workspace.as(CAST.alice).command('/countersign', 'grants');
  const listed = JSON.stringify((await story.noticeFor(CAST.alice, /Pre-approved actions/)).blocks);
  expect(listed).toContain('Refund order: any order id, any reason, amount is at most $5.00');
  expect(listed).toContain('3 of 5 left · pre-approved by ');
  expect(listed).toContain('End pre-approval');
});

test('the time of day in the condition of a grant is that of the policy', async () => {
  // Fourteen hours ahead of UTC.
  const hour = (new Date().getUTCHours() + 14) % 24;
  const story = await startStory({
    manifest: withGrants(
      `{ for: 2h, uses: 2, when: "now.hour == ${hour} || now.hour == ${(hour + 1) % 24}" }`,
    ).replace('grants:', 'time_zone: Pacific/Kiritimati, grants:'),
    replies: [refund(400), { text: 'One.' }, refund(300), { text: 'Two.' }],
  });
  const thread = story.ask('refund 4');
  await allow(story, thread, CAST.alice);
  await thread.shows(/One\./);
  story.ask('refund 3', { threadTs: thread.ts });
  await thread.shows(/Two\./);
  expect(await refundedOf(story)).toBe(700);
});
