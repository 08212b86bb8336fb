import { expect, test } from 'vitest';
import { type ApprovalTerms, challengeOf } from '../../src/policy/proof.ts';
import { CAST } from '../stories/support.ts';
import {
  approve,
  command,
  type Enrolled,
  enrol,
  linkFor,
  post,
  REFUND,
  readApproval,
  startSignedStory,
} from './signing.ts';
import { type Lies, SoftwareKey } from './software-key.ts';
import type { PageStory } from './support.ts';

const { alice, bruno, admin } = CAST;

const NOT_TAKEN: readonly (readonly [string, Lies, string])[] = [
  ['on another site', { origin: 'https://evil.example' }, 'Your passkey was used on another site.'],
  ['in a frame of another site', { crossOrigin: true }, 'Your passkey was used on another site.'],
  ['for another use', { type: 'webauthn.create' }, 'Your passkey was used on another site.'],
  ['bound to another host', { rpId: 'evil.example' }, 'Your passkey belongs to another site.'],
  ['without user verification', { flags: 0x01 }, 'Your passkey did not check that it is you'],
  ['with nobody there', { flags: 0x04 }, 'Your passkey did not check that it is you'],
  ['by another key under its name', { foreignKey: true }, 'The signature does not fit your passkey.'],
  [
    'with a counter that goes back',
    { counter: 3 },
    "Your passkey's counter went backwards, so it may have been copied.",
  ],
  [
    'with a counter that stands still',
    { counter: 5 },
    "Your passkey's counter went backwards, so it may have been copied.",
  ],
  [
    'with a counter that is gone',
    { counter: 0 },
    "Your passkey's counter went backwards, so it may have been copied.",
  ],
];

test('an assertion that does not fit is refused with its reason, and the same link still works for the right one', async () => {
  const story = await startSignedStory({ replies: [REFUND, { text: 'Refunded.' }] });
  const ann = await enrol(story, alice, new SoftwareKey(story.url, { counter: 5 }));
  const ben = await enrol(story, bruno);
  const thread = story.ask('refund it');
  const click = () => thread.click(alice, /Approval needed/, 'approve');
  const nonce = await linkFor(story, alice, click);
  const { terms, challenge } = await readApproval(story, ann.browser, nonce);
  const send = (changed: object, signed: object = {}, browser = ann.browser, link = nonce) =>
    post(story, browser, `approve/${link}`, { terms, ...ann.key.sign(challenge), ...signed, ...changed });
  const refusals: [string, unknown][] = [];
  for (const [name, lies, sentence] of NOT_TAKEN) {
    const { status, body } = await post(story, ann.browser, `approve/${nonce}`, {
      terms,
      ...ann.key.sign(challenge, lies),
    });
    if (status !== 409 || !String(body.error).startsWith(sentence)) refusals.push([name, body]);
  }
  expect(refusals).toEqual([]);

  // Terms that are not those of the record, each properly signed.
  const signed = async (changes: object) => {
    const other = { ...terms, ...changes } as unknown as ApprovalTerms;
    return { terms: other, ...ann.key.sign(await challengeOf(other)) };
  };
  const { request: id } = terms;
  const cases: readonly (readonly [object, string])[] = [
    [{ digest: 'f'.repeat(64) }, 'The request changed after you opened it.'],
    [{ request: `${String(id)}0` }, 'The request changed after you opened it.'],
    [{ workspace: 'T0OTHER' }, 'The request changed after you opened it.'],
    [{ domain: 'another domain' }, 'The request changed after you opened it.'],
    [{ scope: { grant: { uses: 100, forMs: 1, scope: 'requester' } } }, 'You signed for something else'],
    [{ scope: { plan: [1] } }, 'You signed for something else'],
    [{ voter: bruno }, 'This was signed for somebody else.'],
    [{ onBehalfOf: bruno }, 'This was signed for somebody else.'],
    [{ nonce: 'another' }, 'This link has expired or was already used.'],
    [{ expiry: Date.now() + 86_400_000 }, 'This link has expired or was already used.'],
  ];
  for (const [changes, sentence] of cases) {
    const { status, body } = await post(story, ann.browser, `approve/${nonce}`, await signed(changes));
    expect([status, String(body.error)]).toEqual([409, expect.stringContaining(sentence)]);
  }
  // The right terms, but the key signed others; no terms; another person's browser, key and link.
  const once = 'Your passkey signed something else.';
  expect(
    await send(await signed({ digest: 'f'.repeat(64) }), {}, ann.browser).then(({ body }) => body.error),
  ).toContain('changed');
  expect((await send({ ...ann.key.sign('AAAA') })).body.error).toContain(once);
  expect((await send({ terms: null })).body.error).toContain("can't be read");
  expect((await send({ clientDataJSON: '!' })).body.error).toContain("can't be read");
  expect((await send({}, {}, ben.browser)).body.error).toContain('This was signed for somebody else.');
  expect((await send({ credential: ben.key.id })).body.error).toContain('This passkey is not among yours.');
  expect((await send({}, {}, ann.browser, 'no-such-link')).body.error).toContain(
    'This link has expired or was already used.',
  );
  const other = await ben.browser.get(`${story.url}/page/api/approval/${nonce}`);
  expect([other.status, await other.json()]).toEqual([
    409,
    { ok: false, error: 'This was signed for somebody else. Nothing was approved.' },
  ]);
  const foreign = { method: 'POST', headers: { origin: 'https://evil.example' }, body: '{}' };
  expect((await ann.browser.send(`${story.url}/page/api/approve/${nonce}`, foreign)).status).toBe(403);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(0);

  const assertion = { terms, ...ann.key.sign(challenge) };
  expect(await post(story, ann.browser, `approve/${nonce}`, assertion)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
  // The same assertion again.
  expect(await post(story, ann.browser, `approve/${nonce}`, assertion)).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('This link has expired or was already used.') },
  });
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(12_000);
});

/** Puts a proof of the same key in place of the one on record, properly signed, but over another digest. */
async function signAnother(story: PageStory, { key, who }: Enrolled): Promise<void> {
  const hashes = await story.redis.keys(`*${story.prefix}*:ask:*`);
  for (const hash of hashes) {
    const recorded = await story.redis.hget(hash, `proof:${who}`);
    if (recorded === null) continue;
    const proof = JSON.parse(recorded) as { terms: ApprovalTerms };
    const terms = { ...proof.terms, digest: 'f'.repeat(64) };
    const { credential: _, ...signed } = key.sign(await challengeOf(terms));
    await story.redis.hset(hash, `proof:${who}`, JSON.stringify({ ...proof, terms, ...signed }));
    return;
  }
  throw new Error('No proof is on record');
}

const BETWEEN: readonly (readonly [string, string, (story: PageStory, ann: Enrolled) => Promise<unknown>])[] =
  [
    [
      'a key that is removed',
      'unproven',
      (story, { browser, key }) => post(story, browser, 'passkey-remove', { credential: key.id }),
    ],
    ['a proof on record that is exchanged for one over another digest', 'unproven', signAnother],
    [
      'an approver who is removed',
      'quorum-lost',
      async (story) => {
        const member = story.workspace.state.users.get(alice);
        if (member !== undefined) member.deleted = true;
      },
    ],
  ];

test.each(BETWEEN)(
  '%s between the signature and the start: it does not run (%s)',
  async (_, code, change) => {
    const story = await startSignedStory({ replies: [REFUND] });
    const ann = await enrol(story, alice);
    await command(story, admin, 'freeze all for the test');
    await story.noticeFor(admin, /Frozen: all actions/);
    const thread = story.ask('refund it');
    const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
    expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
    await thread.shows(/for the test/);
    await change(story, ann);
    await command(story, admin, 'unfreeze all');
    await thread.shows(
      code === 'unproven'
        ? /A passkey that approved it was removed, or does not prove the approval, so it needs a new approval/
        : /Too few of the people who approved are still approvers, so it needs a new approval/,
    );
    expect((await story.ledger.order('A-1001'))?.refunded).toBe(0);
    const reasons: string[] = [];
    for await (const { event, detail, body } of story.bot.context.store.exportAudit())
      if (event === 'superseded') reasons.push(`${detail} ${body}`);
    expect(reasons).toEqual([expect.stringContaining(code)]);
  },
);
