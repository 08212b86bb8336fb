import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { expect, inject, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../playground/chromium/launch-chromium.ts';
import { command, linkFor, startSignedStory } from '../page/signing.ts';
import type { PageStory } from '../page/support.ts';
import { CAST } from '../stories/support.ts';
import { findViolations } from './check-accessibility.ts';
import { PHONE } from './fixture.ts';
import { addAuthenticator } from './passkeys.ts';

const { alice, bruno, admin } = CAST;
const DESKTOP = { viewport: { width: 1280, height: 900 } };
const SHOTS = fileURLToPath(new URL('../../.playground/page', import.meta.url));

/** A browser of one person with an authenticator of their own, signed in afresh. */
async function openDevice(browser: Browser, story: PageStory, who: string, look: BrowserContextOptions) {
  const { url } = story;
  const context = await browser.newContext({ baseURL: url, locale: 'en-GB', timezoneId: 'UTC', ...look });
  await context.addCookies(
    [...(await story.browserOf(who, { isFresh: true })).jar].map(([name, value]) => ({
      ...{ name, value, url, httpOnly: true, secure: true, sameSite: 'Lax' as const },
    })),
  );
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
  const line = await page.getByText(/^Code \w+ · counts when an admin has confirmed it/).textContent();
  const code = /Code (\w+)/.exec(line ?? '')?.[1] ?? '';
  await command(story, admin, `passkey confirm <@${who}> ${code}`);
  await story.directly(who).shows(/confirmed your passkey Laptop/);
  await page.reload();
  await page.getByText(/^Code \w+ · counts · added/).waitFor();
}

async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  expect(await findViolations(page)).toEqual([]);
  expect(
    await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'),
  ).toBe(false);
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
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
  const browser = await launchChromium(inject('chromium'));
  onTestFinished(() => browser.close());
  const ann = await openDevice(browser, story, alice, DESKTOP);
  const ben = await openDevice(browser, story, bruno, PHONE);
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
  const sign = ({ page }: Device) => page.getByRole('button', { name: 'Approve with passkey' }).click();
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
  await ann.page.getByRole('alert').getByText('Your passkey did not answer. Nothing was approved.').waitFor();
  await ann.devtools.send('WebAuthn.setUserVerified', {
    authenticatorId: ann.authenticatorId,
    isUserVerified: true,
  });
  await sign(ann);
  await ann.page.getByRole('status').getByText('Approved. You can close this page.').waitFor();
  await ann.page.goto(`/page/approve/${annsLink}`);
  await ann.page.getByRole('alert').getByText('This link was used, or it is over.').waitFor();
  await thread.shows(/1 of 2/);
  await open(ben);
  await ben.page.getByText('This call, once.').waitFor();
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
  await ann.page.getByRole('alert').getByText('Your passkey may have been copied').waitFor();
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
