import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { PersonPage } from '../../playground/chromium/person-page.ts';
import { findViolations } from './check-accessibility.ts';
import { startFixture } from './fixture.ts';
import { addAuthenticator } from './passkeys.ts';

const playground = startFixture();
let remi: PersonPage;
let alice: PersonPage;
let bruno: PersonPage;

beforeAll(async () => {
  [remi, alice, bruno] = await Promise.all([
    playground.openAs('remi'),
    playground.openAs('alice'),
    playground.openAs('bruno'),
  ]);
});

/** Opens a step under More in Remi's window and sends its prompt; returns the prompt. */
async function begin(title: string): Promise<string> {
  const step = await remi.openStep(title);
  const prompt = (await step.getByRole('blockquote').textContent()) ?? '';
  await remi.click(step, 'Send as Remi');
  await remi.waitForText(prompt);
  return prompt;
}

/** Sends the prompt of the open act in Alice's window, who then sees the thread as herself; returns the prompt. */
async function beginAct(title: string): Promise<string> {
  const heading = alice.page.getByRole('button', { name: title, exact: true });
  const act = alice.tour.getByRole('listitem').filter({ has: heading });
  const prompt = (await act.getByRole('blockquote').textContent()) ?? '';
  await alice.click(act, 'Send as Remi');
  await alice.waitForText(prompt);
  await alice.page.getByRole('button', { name: /^You are Alice/ }).waitFor();
  return prompt;
}

async function isDone(title: string): Promise<void> {
  await remi.tour.getByRole('button', { name: `${title} Done` }).waitFor();
}

test('the tour starts with its first act open, and the rest is under More', async () => {
  await remi.tour.getByRole('heading', { name: /^An AI agent wants to pay \$120 to Hooper Ltd\./ }).waitFor();
  await remi.tour.getByText('0 of 3 acts done').waitFor();
  expect(await remi.tour.getByRole('button', { name: 'Say yes' }).getAttribute('aria-expanded')).toBe('true');
  expect(await remi.tour.getByRole('button', { name: 'Answer a question' }).count()).toBe(0);
  await remi.sidebar.getByText('Scripted model: fixed rules, no AI').waitFor();
});

test('a request expires, first half: a line for the status page waits for approval', async () => {
  await begin('A request that expires');
  await remi.pendingCard('Publish').getByRole('button', { name: 'Approve' }).waitFor();
});

test('a question is answered with a click on a choice', async () => {
  await begin('Answer a question');
  await remi.click(remi.threadMessage('Which order was it?'), 'A-1002');
  await remi.waitForText(/Order A-1002: Desk lamp, bought by Hooper Ltd for \$89\.00\./);
  await isDone('Answer a question');
});

test('a small refund runs without approval, and nothing says otherwise', async () => {
  await begin('A small refund runs right away');
  await remi.waitForText(/Refunded \$20\.00 of order A-1001\./);
  expect(await remi.thread.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  expect(await remi.thread.getByText(/approv|signature/i).count()).toBe(0);
  await isDone('A small refund runs right away');
});

test('say yes: the refund runs after approval, in every window at once, and the record shows it beside the card', async () => {
  const prompt = await beginAct('Say yes');
  await alice.pendingCard('Refund').getByText('Needs 1 approval').waitFor();

  await remi.conversationLink(/general/).click();
  await remi.openThread(prompt);
  await remi.click(remi.pendingCard('Refund'), 'Approve');
  await remi.waitForNotice('can approve this.');

  await alice.click(alice.pendingCard('Refund'), 'Approve');
  await alice.tour
    .getByRole('listitem')
    .filter({ hasText: /#\d+ Done/ })
    .first()
    .waitFor();
  for (const who of [remi, alice]) {
    await who
      .threadMessage('✅ Refunded')
      .getByText(/pproved by/)
      .waitFor();
    await who.waitForText(/Refunded \$120\.00 of order A-1001\. \$140\.00 of this order refunded in total/);
    expect(await who.thread.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  }
  await isDone('Say yes');
});

test('a deletion needs two people, and one person clicking twice counts once', async () => {
  const prompt = await begin('Two approvals for a deletion');
  await alice.conversationLink(/general/).click();
  await alice.openThread(prompt);
  const card = alice.pendingCard('Delete customer');
  await alice.approveTyped(card, 'Tomo Arai');
  await card.getByText('1 of 2 approvals').waitFor();
  await alice.approveTyped(card, 'Tomo Arai');
  // The second click is refused in the dialog, or, if the bot needs long for it, by a direct message.
  const refused = alice.dialog.getByText(/already approved/);
  await Promise.race([refused.waitFor(), alice.dialog.waitFor({ state: 'hidden' })]);
  if (await alice.dialog.isVisible()) await alice.click(alice.dialog, 'Cancel');
  await card.getByText('1 of 2 approvals').waitFor();

  await bruno.openThread(prompt);
  await bruno.pendingCard('Delete customer').getByText('1 of 2 approvals').waitFor();
  await bruno.approveTyped(bruno.pendingCard('Delete customer'), 'Tomo Arai');
  await remi.waitForText('Deleted Tomo Arai and 1 order.');
  await isDone('Two approvals for a deletion');
});

test('an edit with an invalid amount is refused under its field; the corrected one runs', async () => {
  const prompt = await begin('Edit a request before approval');
  await alice.conversationLink(/general/).click();
  await alice.openThread(prompt);
  await alice.choose(alice.pendingCard('Refund'), 'Edit');
  const amount = alice.dialog.getByLabel(/amount/i);
  expect(await amount.inputValue()).toBe('150.00');
  await amount.fill('-5');
  await alice.click(alice.dialog, 'Submit');
  await expect.poll(() => amount.getAttribute('aria-invalid')).toBe('true');
  await amount.fill('110');
  await alice.click(alice.dialog, 'Submit');
  await alice.threadMessage('🔁 Refund').waitFor();
  await alice.pendingCard('Refund').getByRole('heading', { name: '$110.00' }).waitFor();

  await bruno.conversationLink(/general/).click();
  await bruno.openThread(prompt);
  await bruno.click(bruno.pendingCard('Refund'), 'Approve');
  await remi.waitForText(/Refunded \$110\.00 of order A-1003\. You asked for \$150\.00/);
  await isDone('Edit a request before approval');
});

test('say no: a rejection needs a reason, and the agent answers it with a better proposal', async () => {
  await beginAct('Say no');
  await alice.click(alice.pendingCard('Refund'), 'Reject');
  const reason = alice.dialog.getByLabel(/^Why\?/);
  await alice.click(alice.dialog, 'Reject');
  await expect.poll(() => reason.getAttribute('aria-invalid')).toBe('true');
  await reason.fill('Half is enough.');
  await alice.click(alice.dialog, 'Reject');
  await alice.dialog.waitFor({ state: 'hidden' });
  await alice.threadMessage('🚫 Refund').getByText('Half is enough.').waitFor();
  await alice.waitForText(/“Half is enough\.” I propose \$150\.00 instead\./);
  await alice.click(alice.pendingCard('Refund $150.00'), 'Approve');
  await alice.waitForText(/Refunded \$150\.00 of order A-1001\./);
  await isDone('Say no');
});

/** Pulls the plug once; on a busy machine the click may come after the twelve seconds of the payment, and the tour says so. */
async function pullThePlug(begins: () => Promise<unknown>): Promise<'done' | 'missed'> {
  await begins();
  await alice.click(alice.pendingCard('Refund'), 'Approve');
  await alice.threadMessage('⏳ Refund').waitFor();
  // The button stands in the step that needs it.
  const step = alice.tour.getByRole('listitem').filter({ hasText: /^As Alice: While the card says Running/ });
  await alice.click(step, 'Kill the bot now');
  const countdown = /The bot is dead \(SIGKILL\)\. It starts again in \d+ s\./;
  await alice.tour.getByText(countdown).first().waitFor();
  const done = alice.tour.getByRole('button', { name: 'Pull the plug Done' });
  const missed = alice.tour.getByText('The last kill hit nothing that ran');
  await done.or(missed).first().waitFor();
  return (await done.count()) > 0 ? 'done' : 'missed';
}

test('pull the plug: a refund whose bot is killed in the middle is paid once', async () => {
  let payments = 1;
  let end = await pullThePlug(() => beginAct('Pull the plug'));
  for (; end === 'missed'; payments += 1)
    end = await pullThePlug(() => alice.click(alice.tour, 'Send again as Remi'));
  await alice.waitForText(/Refunded \$250\.00 of order A-1005\./);
  const result =
    payments === 1
      ? /Ran once, after (1 restart|\d+ restarts)\./
      : `${payments} ledger entries for ${payments} approved payments.`;
  await alice.tour.getByText(result).waitFor();
  await alice.tour
    .getByRole('table', { name: "The shop's ledger" })
    .getByRole('cell', { name: '$250.00' })
    .first()
    .waitFor();
  await alice.tour
    .getByText(/^#\d+ Retried after a crash/)
    .first()
    .waitFor();
  await isDone('Pull the plug');
});

test('the bot is killed in the middle of a deployment, comes back, and asks what happened', async () => {
  const prompt = await begin('Kill the bot during an action');
  await alice.conversationLink(/general/).click();
  await alice.openThread(prompt);
  await alice.click(alice.pendingCard('Deploy'), 'Approve');
  await remi.threadMessage('⏳ Deploy').waitFor();
  await remi.click(remi.tour, 'Kill the bot now');
  await remi.sidebar.getByText('Countersign: connected').waitFor();

  const card = alice.threadMessage('❓ Deploy');
  await card.getByText('Countersign restarted or lost its database while this ran').waitFor();
  await alice.click(card, 'It ran');
  await alice.dialog.getByLabel(/^How do you know\?/).fill('The new version answers.');
  await alice.click(alice.dialog, 'Save');
  await remi.waitForText(
    /Someone checked and confirmed that it ran\. Their note: “The new version answers\.”/,
  );
  await isDone('Kill the bot during an action');
});

/** Types the slash command in the open channel. */
async function command({ page }: PersonPage, text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: /^Message/ });
  await field.fill(`/countersign ${text}`);
  await field.press('Enter');
}

/** Follows a link of a message, which opens another tab. */
async function follow({ page }: PersonPage, link: string): Promise<Page> {
  const opened = page.context().waitForEvent('page');
  await page.getByRole('link', { name: link }).last().click();
  const tab = await opened;
  tab.on('pageerror', (error) => playground.errors.push(String(error)));
  return tab;
}

/** Adds a passkey on the bot's page; who comes from Slack signs in once. */
async function addPasskey(who: PersonPage, name: string, agree: (tab: Page) => Promise<void>): Promise<Page> {
  await who.conversationLink(/general/).click();
  await command(who, 'passkey');
  const tab = await follow(who, 'the page');
  await tab.getByRole('link', { name: 'Sign in' }).click();
  await tab.getByRole('link', { name: `Sign in as ${name}` }).click();
  await tab.getByLabel('Name of the new passkey').fill('Laptop');
  await agree(tab);
  await tab.getByText('Waiting for an admin to confirm').waitFor();
  return tab;
}

test('a deployment to production is approved with a key in software, in a browser that has no passkeys', async () => {
  const prompt = await begin('Approve with a passkey');
  await alice.conversationLink(/general/).click();
  await alice.openThread(prompt);
  await alice.pendingCard('Deploy').getByText('Approving needs your passkey.').waitFor();
  await alice.click(alice.pendingCard('Deploy'), 'Approve');
  await alice.waitForNotice('This approval needs a passkey, and you have none yet.');

  const tab = await addPasskey(alice, 'Alice Moreau', async (page) => {
    const add = page.getByRole('button', { name: 'Add a passkey' });
    const dialog = page.getByRole('dialog', { name: 'Make a software key?' });
    await add.click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').getByText("Your device didn't make a passkey.").waitFor();
    await add.click();
    await dialog.getByText('A real bot never does').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Make the key' }).click();
  });
  const [, code] = /Code ([\w-]+)/.exec(await tab.getByText(/^Code /).innerText()) ?? [];
  await tab.close();

  const ada = await playground.openAs('ada');
  await ada.conversationLink(/Countersign/).click();
  await ada.messages.getByRole('listitem').filter({ hasText: 'added a passkey: Laptop' }).waitFor();
  await ada.conversationLink(/general/).click();
  await command(ada, `passkey confirm @Alice Moreau ${code}`);
  await ada.waitForNotice('is confirmed');

  await alice.openThread(prompt);
  await alice.click(alice.pendingCard('Deploy'), 'Approve');
  const approval = await follow(alice, 'Review and approve');
  await approval.getByRole('heading', { name: 'Deploy search 2.4.1 to production' }).waitFor();
  await approval.getByRole('button', { name: 'Approve with passkey' }).click();
  const signing = approval.getByRole('dialog', { name: 'Sign with the software key?' });
  expect(await findViolations(approval)).toEqual([]);
  await signing.getByRole('button', { name: 'Sign' }).click();
  await approval.getByRole('status').getByText('Approved. You can close this page.').waitFor();
  await approval.close();
  await remi.waitForText('Deployed search@2.4.1 to production.');
  await isDone('Approve with a passkey');
});

test('a browser with passkeys of its own is offered no key in software', async () => {
  const tab = await addPasskey(bruno, 'Bruno Moretti', async (page) => {
    await addAuthenticator(page);
    await page.reload();
    await page.getByLabel('Name of the new passkey').fill('Laptop');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
  });
  expect(await tab.getByRole('dialog').count()).toBe(0);
  await tab.close();
});

test('only the playground adds the key in software: the bot itself serves its page without it', async () => {
  const { publicUrl, botPort } = playground.playground;
  const [script, shell] = ['/playground/software-key.js', '/page/passkeys'];
  const read = async (base: string, path: string) => {
    const answer = await fetch(`${base}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  expect(await read(publicUrl, script)).toMatchObject({ status: 200 });
  expect((await read(publicUrl, shell)).text).toContain(script);
  const bot = `http://localhost:${botPort}`;
  expect(await read(bot, script)).toMatchObject({ status: 404 });
  const own = await read(bot, shell);
  expect(own).toMatchObject({ status: 200 });
  expect(own.text).not.toContain('playground');
});

test('a request expires, second half: without a decision the line expires and can be asked again', async () => {
  await remi.click(await remi.openStep('A request that expires'), 'Open the thread');
  await remi.threadMessage('⌛ Publish').getByRole('button', { name: 'Request again' }).waitFor();
  await remi.waitForText(/expired with no decision, so nothing was done/);
  await isDone('A request that expires');
});

test('after the last step the tour says how to connect Slack, as the README does, and what to try next', async () => {
  await remi.tour.getByText('3 of 3 acts done').waitFor();
  await remi.tour.getByText('7 of 7 done').waitFor();
  await remi.tour.getByRole('heading', { name: 'What to try next' }).waitFor();
  await remi.tour.getByRole('heading', { name: 'Connect your own Slack' }).waitFor();
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const commands = await remi.tour.locator('.tour-finished ol code').allTextContents();
  expect(commands).toContain('npx countersign init ../my-bot');
  for (const command of commands) expect(readme).toContain(command);
});
