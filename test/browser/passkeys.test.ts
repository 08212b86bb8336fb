import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, CDPSession, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../playground/chromium/launch-chromium.ts';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import type { Approval } from '../../src/page/protocol.ts';
import { type ApprovalTerms, challengeOf } from '../../src/policy/proof.ts';
import { command, linkFor, REFUND, SIGNED, startSignedStory } from '../page/signing.ts';
import type { PageStory } from '../page/support.ts';
import { CAST } from '../stories/support.ts';
import { findViolations } from './check-accessibility.ts';
import { findUnreachable } from './check-keyboard.ts';
import { PHONE } from './fixture.ts';
import { addAuthenticator } from './passkeys.ts';

const { alice, bruno, admin, requester } = CAST;
const DESKTOP = { viewport: { width: 1280, height: 900 } };
const SHOTS = fileURLToPath(new URL('../../.playground/page', import.meta.url));

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium(inject('chromium'));
});
afterAll(() => browser.close());

/** A browser of one person with an authenticator of their own, signed in afresh. */
async function openDevice(
  story: PageStory,
  who: string,
  look: BrowserContextOptions = DESKTOP,
): Promise<Device> {
  const { url } = story;
  const context = await browser.newContext({ baseURL: url, locale: 'en-GB', timezoneId: 'UTC', ...look });
  await context.addCookies(
    [...(await story.browserOf(who, { isFresh: true })).jar].map(([name, value]) => ({
      ...{ name, value, url, httpOnly: true, secure: true, sameSite: 'Lax' as const },
    })),
  );
  onTestFinished(() => context.close());
  const page = await context.newPage();
  return { who, page, ...(await addAuthenticator(page)) };
}

interface Device {
  readonly who: string;
  readonly page: Page;
  readonly devtools: CDPSession;
  readonly authenticatorId: string;
}

/** Adds a passkey on the page, and an admin confirms its code. */
async function enrol(story: PageStory, { page, who }: Device): Promise<void> {
  await page.goto('/page/passkeys');
  await page.getByLabel('Name of the new passkey').fill('Laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Waiting for an admin to confirm').waitFor();
  const line = await page.getByText(/^Code /).textContent();
  const code = /Code ([\w-]+)/.exec(line ?? '')?.[1] ?? '';
  await command(story, admin, `passkey confirm <@${who}> ${code}`);
  await story.directly(who).shows(/confirmed your passkey Laptop/);
  await page.getByText('Confirmed', { exact: true }).waitFor();
}

const sign = ({ page }: Pick<Device, 'page'>) =>
  page.getByRole('button', { name: 'Approve with passkey' }).click();

/** Waits for the sentence that the person reads in place of an approval. */
const refuses = ({ page }: Pick<Device, 'page'>, sentence: string) =>
  page.getByRole('alert').getByText(sentence).waitFor();

/** Looks at a view in light and dark, at its own size and at 200 %, and goes through it with the keyboard. */
async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  const size = page.viewportSize() ?? DESKTOP.viewport;
  const zoomed = { width: Math.max(320, size.width / 2), height: size.height / 2 };
  const findings: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [how, viewport] of [
      ['200 %', zoomed],
      ['whole', size],
    ] as const) {
      await page.setViewportSize(viewport);
      const wide = await page.evaluate(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      );
      if (wide === true) findings.push('it scrolls sideways');
      findings.push(
        ...(await findViolations(page)).map((each) => `${name}, ${colorScheme}, ${how}: ${each}`),
      );
    }
    await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}.png`), fullPage: true });
  }
  findings.push(...(await findUnreachable(page)));
  expect(findings).toEqual([]);
}

test('in Chromium with virtual authenticators: two people enrol and sign, and what does not fit is refused in words', async () => {
  const story = await startSignedStory({
    replies: [
      { calls: [{ name: 'delete_customer', arguments: { customer: 'Ines Marr' } }] },
      { text: 'Deleted.' },
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 11_000, reason: '' } }] },
      { text: 'Refunded.' },
    ],
  });
  const ann = await openDevice(story, alice);
  const ben = await openDevice(story, bruno, PHONE);
  await enrol(story, ann);
  await enrol(story, ben);
  await shoot(ann.page, 'passkeys-desktop');
  await shoot(ben.page, 'passkeys-phone');

  const thread = story.ask('delete it');
  const open = async ({ page, who }: Device) => {
    const nonce = await linkFor(story, who, () => thread.click(who, /Approval needed/, 'approve'));
    await page.goto(`/page/approve/${nonce}`);
    return nonce;
  };
  const annsLink = await open(ann);
  await ann.page.getByText('This call, once.').waitFor();
  await shoot(ann.page, 'approve-desktop');
  // Somebody else with the link.
  await ben.page.goto(`/page/approve/${annsLink}`);
  await ben.page.getByRole('alert').getByText('This was signed for somebody else.').waitFor();
  // A device that does not check who the person is.
  await ann.devtools.send('WebAuthn.setUserVerified', {
    authenticatorId: ann.authenticatorId,
    isUserVerified: false,
  });
  await sign(ann);
  await ann.page.getByRole('alert').getByText('Your passkey did not answer. Nothing was signed.').waitFor();
  await ann.devtools.send('WebAuthn.setUserVerified', {
    authenticatorId: ann.authenticatorId,
    isUserVerified: true,
  });
  await sign(ann);
  await ann.page.getByRole('status').getByText('Approved. You can close this page.').waitFor();
  await ann.page.goto(`/page/approve/${annsLink}`);
  await ann.page.getByRole('alert').getByText('This link has expired or was already used.').waitFor();
  await thread.shows(/1 of 2/);
  await open(ben);
  await ben.page.getByText('This call, once.').waitFor();
  // The button is there without scrolling, on a phone as well; the raw data is folded.
  const foot = await ben.page.getByRole('button', { name: 'Approve with passkey' }).boundingBox();
  expect((foot?.y ?? Number.NaN) + (foot?.height ?? Number.NaN)).toBeLessThanOrEqual(PHONE.viewport.height);
  expect(await ben.page.getByRole('heading', { name: 'Arguments, exactly as they will run' }).count()).toBe(
    0,
  );
  await ben.page.getByText('Details and raw data').click();
  await ben.page.getByRole('heading', { name: 'Arguments, exactly as they will run' }).waitFor();
  await shoot(ben.page, 'approve-phone');
  await sign(ben);
  await ben.page.getByRole('status').getByText('Approved.').waitFor();
  await thread.shows(/Deleted\./);

  // A counter that goes back, as that of a copied key; then a key that is removed while the page is open.
  const refund = story.ask('refund it');
  const again = async ({ page, who }: Device) => {
    const nonce = await linkFor(story, who, () => refund.click(who, /Approval needed/, 'approve'));
    await page.goto(`/page/approve/${nonce}`);
  };
  await again(ann);
  const { credentials } = await ann.devtools.send('WebAuthn.getCredentials', {
    authenticatorId: ann.authenticatorId,
  });
  const [credential] = credentials;
  if (credential === undefined) throw new Error('There is no credential');
  await ann.devtools.send('WebAuthn.clearCredentials', { authenticatorId: ann.authenticatorId });
  await ann.devtools.send('WebAuthn.addCredential', {
    authenticatorId: ann.authenticatorId,
    credential: { ...credential, signCount: 0 },
  });
  await sign(ann);
  await ann.page
    .getByRole('alert')
    .getByText("Your passkey's counter went backwards, so it may have been copied")
    .waitFor();
  await again(ben);
  await ben.page.getByText('This call, once.').waitFor();
  const second = await ben.page.context().newPage();
  await second.goto('/page/passkeys');
  await second.getByRole('button', { name: 'Remove Laptop' }).click();
  await second.getByText('You have none yet.').waitFor();
  await sign(ben);
  await ben.page.getByRole('alert').getByText('This passkey is not among yours.').waitFor();
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(0);
  // A later signature of Ann's own key is ahead of its counter again.
  await ann.devtools.send('WebAuthn.clearCredentials', { authenticatorId: ann.authenticatorId });
  await ann.devtools.send('WebAuthn.addCredential', {
    authenticatorId: ann.authenticatorId,
    credential: { ...credential, signCount: credential.signCount + 5 },
  });
  await sign(ann);
  await ann.page.getByRole('status').getByText('Approved.').waitFor();
  await refund.shows(/Refunded\./);
});

/** Changes what a page is told to sign, so that the authenticator really signs something else. */
const telling = (change: (approval: Approval) => Promise<Partial<Approval>>) => async (route: Route) => {
  const response = await route.fetch();
  const approval: Approval = await response.json();
  await route.fulfill({ response, json: { ...approval, ...(await change(approval)) } });
};

/** Lets the page show and sign other terms. */
const otherTerms = (changes: Partial<ApprovalTerms>) =>
  telling(async ({ terms }) => {
    const other = { ...(terms as unknown as ApprovalTerms), ...changes };
    return { terms: { ...terms, ...changes }, challenge: await challengeOf(other) } as Partial<Approval>;
  });

const TOLD = '**/page/api/approval/*';
const SENT = '**/page/api/approve/*';
const GRANTING = SIGNED.replace(
  'default: { confirm: passkey,',
  'default: { confirm: passkey, grants: { for: 1h, uses: 1 },',
);

test('in Chromium with virtual authenticators: whatever is changed between the card, the device and the bot is refused in words', async () => {
  const story = await startSignedStory({ manifest: GRANTING, replies: [REFUND, { text: 'Refunded.' }] });
  const ann = await openDevice(story, alice);
  const ben = await openDevice(story, bruno);
  await enrol(story, ann);
  await enrol(story, ben);
  const thread = story.ask('refund it');
  const linked = (click: () => Promise<unknown>) => linkFor(story, alice, click);
  const once = await linked(() => thread.click(alice, /Approval needed/, 'approve'));
  const { page } = ann;
  /** Opens a link while something is wrong, signs, and reads the sentence. */
  const attempt = async (
    nonce: string,
    [where, wrong]: readonly [string, (route: Route) => Promise<void>],
    sentence: string,
  ) => {
    await page.route(where, wrong);
    await page.goto(`/page/approve/${nonce}`);
    await sign(ann);
    await refuses(ann, sentence);
    await page.unroute(where, wrong);
  };

  // Another digest: signed and sent; signed, with the right one sent; sent, with the right one signed.
  const digest = 'f'.repeat(64);
  const CHANGED =
    'The request changed after you opened it. Nothing was approved. Click Approve in Slack again.';
  const OTHER = 'Your passkey signed something else. Nothing was approved. Click Approve in Slack again.';
  await attempt(once, [TOLD, otherTerms({ digest })], CHANGED);
  const signsOther = telling(async ({ terms }) => ({
    challenge: await challengeOf({ ...(terms as unknown as ApprovalTerms), digest }),
  }));
  await attempt(once, [TOLD, signsOther], OTHER);
  const sendsOther = (route: Route) => {
    const sent = route.request().postDataJSON();
    return route.continue({ postData: JSON.stringify({ ...sent, terms: { ...sent.terms, digest } }) });
  };
  await attempt(once, [SENT, sendsOther], CHANGED);

  // "Once" is signed, and a grant was asked for; and the other way round.
  const SCOPE =
    'You signed for something else than what was asked for. Nothing was approved. Click Approve in Slack again.';
  const grant = await linked(async () => {
    await thread.click(alice, /Approval needed/, 'approve-grant');
    const modal = await story.modalFor(alice);
    await story.workspace.as(alice).submit(modal.id, {});
  });
  await attempt(grant, [TOLD, otherTerms({ scope: 'once' })], SCOPE);
  await attempt(once, [TOLD, otherTerms({ scope: { grant: { uses: 100, forMs: 1 } } })], SCOPE);

  // The key of another person, in this person's browser: the page does not ask for it, and the bot does not take it.
  const { credentials } = await ann.devtools.send('WebAuthn.getCredentials', {
    authenticatorId: ann.authenticatorId,
  });
  const held = await ben.devtools.send('WebAuthn.getCredentials', { authenticatorId: ben.authenticatorId });
  const hold = async (keys: typeof credentials) => {
    const { authenticatorId } = ann;
    await ann.devtools.send('WebAuthn.clearCredentials', { authenticatorId });
    for (const credential of keys)
      await ann.devtools.send('WebAuthn.addCredential', { authenticatorId, credential });
  };
  await hold(held.credentials);
  await page.goto(`/page/approve/${once}`);
  await sign(ann);
  await refuses(ann, 'Your passkey did not answer. Nothing was signed. Try again.');
  const bensId = toBase64url(held.credentials[0]?.credentialId ?? '');
  const asksBens = telling(async ({ keys: [key] }) => ({
    keys: key === undefined ? [] : [{ ...key, id: bensId }],
  }));
  await attempt(once, [TOLD, asksBens], 'This passkey is not among yours. Nothing was approved.');
  // Ahead of every signature that was made and refused.
  await hold(credentials.map((credential) => ({ ...credential, signCount: credential.signCount + 50 })));

  // A page on another address of this machine, for which the browser lets the same key sign.
  const elsewhere = `http://localhost:${await findFreePort()}`;
  const passOn = (origin: string) => async (route: Route) => {
    const url = route.request().url().replace(elsewhere, story.url);
    const headers = { ...(await route.request().allHeaders()), origin };
    await route.fulfill({ response: await route.fetch({ url, headers, maxRedirects: 0 }) });
  };
  const phished = async (origin: string, sentence: string) => {
    await page.route(`${elsewhere}/**`, passOn(origin));
    await page.goto(`${elsewhere}/page/approve/${once}`);
    await sign(ann);
    await refuses(ann, sentence);
    await page.unroute(`${elsewhere}/**`);
  };
  await phished(story.url, 'Your passkey was used on another site. Nothing was approved.');
  await phished(elsewhere, 'This request did not come from the page.');

  // A page that does not ask the device to check who the person is.
  const careless = await page.context().newPage();
  await careless.addInitScript(`
    const get = navigator.credentials.get.bind(navigator.credentials);
    navigator.credentials.get = ({ publicKey }) =>
      get({ publicKey: { ...publicKey, userVerification: 'discouraged' } });
  `);
  const second = { ...ann, page: careless, ...(await addAuthenticator(careless, { isUserVerified: false })) };
  for (const credential of credentials)
    await second.devtools.send('WebAuthn.addCredential', {
      authenticatorId: second.authenticatorId,
      credential: { ...credential, signCount: 100 },
    });
  await careless.goto(`/page/approve/${once}`);
  await sign(second);
  await refuses(second, 'Your passkey did not check that it is you, by a PIN, a fingerprint or your face.');

  // A link that ends while the page is open.
  const short = await linked(() => thread.click(alice, /Approval needed/, 'approve'));
  await page.goto(`/page/approve/${short}`);
  await page.getByText('This call, once.').waitFor();
  const [document = ''] = (await story.redis.keys(`*${story.prefix}*`)).filter((name) =>
    name.endsWith(short),
  );
  await story.redis.pexpire(document, 1);
  await expect.poll(() => story.redis.exists(document)).toBe(0);
  const OVER = 'This link has expired or was already used. Click Approve in Slack again.';
  await sign(ann);
  await refuses(ann, OVER);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(0);

  // The same assertion again, from a tab with the same link, after it has counted.
  const copy = await page.context().newPage();
  const replaying = { ...ann, page: copy, ...(await addAuthenticator(copy)) };
  for (const credential of credentials)
    await replaying.devtools.send('WebAuthn.addCredential', {
      ...{ authenticatorId: replaying.authenticatorId, credential },
    });
  await copy.goto(`/page/approve/${once}`);
  await copy.getByText('This call, once.').waitFor();
  await page.goto(`/page/approve/${once}`);
  const approved = page.waitForRequest(SENT);
  await sign(ann);
  await page.getByRole('status').getByText('Approved. You can close this page.').waitFor();
  const assertion = (await approved).postData() ?? '';
  await thread.shows(/Refunded\./);
  await copy.route(SENT, (route) => route.continue({ postData: assertion }));
  await sign(replaying);
  await refuses(replaying, OVER);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(12_000);
});

const BETWEEN = [
  [
    'an approver who is removed',
    'Too few of the people who approved are still approvers, so it needs a new approval',
    async (story: PageStory) => {
      const member = story.workspace.state.users.get(alice);
      if (member !== undefined) member.deleted = true;
    },
  ],
  [
    'a key that is removed',
    'A passkey that approved it was removed, or does not prove the approval, so it needs a new approval',
    async (_story: PageStory, { page }: Device) => {
      await page.goto('/page/passkeys');
      await page.getByRole('button', { name: 'Remove Laptop' }).click();
      await page.getByText('You have none yet.').waitFor();
    },
  ],
] as const;

test.each(BETWEEN)(
  'in Chromium: %s between the signature and the start, and people read why it did not run',
  async (_, sentence, change) => {
    const story = await startSignedStory({ replies: [REFUND] });
    const ann = await openDevice(story, alice);
    await enrol(story, ann);
    await command(story, admin, 'freeze all for the test');
    await story.noticeFor(admin, /Frozen: all actions/);
    const thread = story.ask('refund it');
    const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
    await ann.page.goto(`/page/approve/${nonce}`);
    await sign(ann);
    await ann.page.getByRole('status').getByText('Approved. You can close this page.').waitFor();
    const request = await ann.page.getByRole('link', { name: 'See the request' }).getAttribute('href');
    await thread.shows(/for the test/);
    await change(story, ann);
    await command(story, admin, 'unfreeze all');
    await thread.shows(new RegExp(sentence));
    const { page } = await openDevice(story, requester);
    await page.goto(`/page/${request?.replace(/^.*requests/, 'requests')}`);
    await page.getByText(sentence).first().waitFor();
    expect((await story.ledger.order('A-1001'))?.refunded).toBe(0);
  },
);

/** The protocol of the browser writes bytes as base64, WebAuthn as base64url. */
function toBase64url(text: string): string {
  return Buffer.from(text, 'base64').toString('base64url');
}
