import { expect } from 'vitest';
import type { Approval, PasskeyItem } from '../../src/page/protocol.ts';
import { CAST, MANIFEST, PLACES } from '../stories/support.ts';
import { type Lies, SoftwareKey } from './software-key.ts';
import type { Browser } from './support.ts';
import { type PageStory, type PageStoryOptions, startPageStory } from './support.ts';

export const SIGNED = MANIFEST.replace(
  'agent: { instructions: Help. }',
  `agent: { instructions: Help., admins: [${CAST.admin}] }`,
)
  .replace('default: {', 'default: { confirm: passkey,')
  .replace('two: {', 'two: { confirm: passkey,');

export const REFUND = {
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000, reason: 'scratched' } }],
};

export const startSignedStory = (options: PageStoryOptions = {}) =>
  startPageStory({ manifest: SIGNED, auditors: [CAST.admin], ...options });

/** Sends a write as the page does. */
export async function post(story: PageStory, browser: Browser, path: string, body: object) {
  const headers = { origin: story.url };
  const answer = await browser.send(`${story.url}/page/api/${path}`, {
    ...{ method: 'POST', headers, body: JSON.stringify(body) },
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** Adds a key for somebody, in their browser. */
export async function addKey(
  story: PageStory,
  browser: Browser,
  key = new SoftwareKey(story.url),
  lies: Lies = {},
) {
  const options = await post(story, browser, 'passkey-options', {});
  const response = key.create(String(options.body.challenge), lies);
  return { key, answer: await post(story, browser, 'passkey-add', { name: 'Laptop', response }) };
}

/** Types the command of the bot. */
export const command = (story: PageStory, who: string, text: string) =>
  story.workspace.as(who).command('/countersign', text, { channel: PLACES.general });

/** Gives somebody a key that counts: they add it, and an admin confirms it. */
export async function enrol(story: PageStory, who: string, key = new SoftwareKey(story.url)) {
  const browser = await story.browserOf(who, { isFresh: true });
  const { answer } = await addKey(story, browser, key);
  expect(answer).toMatchObject({ status: 200 });
  const { code } = answer.body as unknown as PasskeyItem;
  const by = who === CAST.admin ? CAST.bruno : CAST.admin;
  await command(story, by, `passkey confirm <@${who}> ${code}`);
  await story.directly(who).shows(/confirmed your passkey/);
  return { key, browser, who };
}
export type Enrolled = Awaited<ReturnType<typeof enrol>>;

const LINK = /<(http[^|>]+)\|Review and approve>/;

/** Waits for the newest one-time link of somebody after a click. */
export async function linkFor(story: PageStory, who: string, click: () => Promise<unknown>): Promise<string> {
  const links = () =>
    [
      ...story.workspace.ephemeralsFor(who),
      ...story.workspace.messagesIn(story.workspace.directMessages(who)),
    ].flatMap(({ text }) => LINK.exec(text)?.[1] ?? []);
  const before = links().length;
  await click();
  await story.workspace.until(() => links().length > before, { what: `a link for ${who}` });
  const link = links().at(-1) ?? '';
  return link.slice(link.lastIndexOf('/') + 1);
}

/** Reads what somebody would sign. */
export async function readApproval(story: PageStory, browser: Browser, nonce: string): Promise<Approval> {
  const answer = await browser.get(`${story.url}/page/api/approval/${nonce}`);
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Approval;
}

/** Signs and sends, as the page does. */
export async function approve(
  story: PageStory,
  { browser, key }: Pick<Enrolled, 'browser' | 'key'>,
  nonce: string,
  lies: Lies = {},
) {
  const { terms, challenge } = await readApproval(story, browser, nonce);
  return post(story, browser, `approve/${nonce}`, { terms, ...key.sign(challenge, lies) });
}

/** Types the command, and returns the newest one-time link in its answer, if it has one. */
export async function delegate(
  story: PageStory,
  from: string,
  to: string,
  time = 'until Friday',
): Promise<string> {
  const answers = () =>
    story.workspace.ephemeralsFor(from).flatMap(({ blocks }) => {
      const text = JSON.stringify(blocks ?? []);
      return text.includes(to) ? [/approve\/([\w-]+)/.exec(text)?.[1] ?? ''] : [];
    });
  const before = answers().length;
  await command(story, from, `delegate <@${to}> ${time}`);
  await story.workspace.until(() => answers().length > before, { what: `the delegation to ${to}` });
  return answers().at(-1) ?? '';
}

/** Lets an approver delegate to somebody, and sign it. */
export async function delegateSigned(
  story: PageStory,
  from: Enrolled,
  to: string,
  time?: string,
): Promise<void> {
  const nonce = await delegate(story, from.who, to, time);
  expect(await approve(story, from, nonce)).toMatchObject({ status: 200 });
}
