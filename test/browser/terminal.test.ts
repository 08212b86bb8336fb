import { expect, test } from 'vitest';
import type { PersonPage } from '../../playground/chromium/person-page.ts';
import { findViolations } from './check-accessibility.ts';
import { PHONE, startFixture } from './fixture.ts';

const playground = startFixture();

const TITLE = 'Release checkout 2.4.1';
const card = (person: PersonPage) =>
  person.channelCard(TITLE).filter({ has: person.page.getByRole('button', { name: 'Approve' }) });

/** Starts the job another time, and waits until it has asked. */
async function runAgain(person: PersonPage): Promise<void> {
  await person.click(person.terminal, 'Run the job again');
  await person.terminal.getByText('The job is running.').waitFor();
  await person.terminal.getByText(/Waiting for approval in Slack/).waitFor();
}

test('a job asks through the door, waits in the terminal, and goes on when somebody approves', async () => {
  const alice = await playground.openAs('alice');
  await alice.page.getByRole('tab', { name: 'Terminal' }).click();
  await alice.terminal.getByText('The job has not run yet.').waitFor();
  await alice.click(alice.terminal, 'Run the job');
  await alice.terminal.getByText(/countersign ask --policy release .* -- sh release\.sh/).waitFor();
  await alice.terminal.getByText(/Waiting for approval in Slack/).waitFor();
  await card(alice)
    .getByText(/release-job/)
    .first()
    .waitFor();
  expect(await findViolations(alice.page)).toEqual([]);
  expect(await alice.terminal.textContent()).not.toContain('Uploading');
  await alice.click(card(alice), 'Approve');
  await alice.terminal
    .getByText(/Approved by U0ALICE002\. Running\.[\s\S]*checkout 2\.4\.1 is live/)
    .waitFor();
  await alice.terminal.getByText('The job succeeded.').waitFor();
});

test('Ctrl-C withdraws the request, and a rejection ends the job; on a phone as well', async () => {
  const bruno = await playground.openAs('bruno', PHONE);
  await bruno.page.getByRole('button', { name: 'Terminal', exact: true }).click();
  await runAgain(bruno);
  await bruno.click(bruno.terminal, 'Ctrl-C');
  await bruno.terminal.getByText('The job ended with exit code 82.').waitFor();
  expect(await bruno.terminal.textContent()).toContain('Withdrawn by you.');

  await runAgain(bruno);
  await bruno.page.getByRole('button', { name: 'Close the side panel' }).click();
  await bruno.click(card(bruno), 'Reject');
  await bruno.dialog.getByRole('textbox').fill('Not on a Friday.');
  await bruno.click(bruno.dialog, 'Reject');
  await bruno.page.getByRole('button', { name: 'Terminal', exact: true }).click();
  await bruno.terminal.getByText(/Rejected: Not on a Friday\./).waitFor();
  await bruno.terminal.getByText('The job ended with exit code 80.').waitFor();
});
