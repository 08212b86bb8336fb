import type { Locator } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { PersonPage } from '../../playground/chromium/person-page.ts';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import { findViolations } from './check-accessibility.ts';
import { findUnreachable } from './check-keyboard.ts';
import { LOOKS, startFixture } from './fixture.ts';

const playground = startFixture();

/** A state of the page: where it is, and what is done there before it is checked. */
interface State {
  readonly path: string;
  readonly show: (person: PersonPage) => Promise<unknown>;
}

const states = new Map<string, State>();

beforeAll(async () => {
  const [remi, alice] = await Promise.all([playground.openAs('remi'), playground.openAs('alice')]);
  const ask = async (words: string): Promise<string> => {
    await remi.page.goto(`/remi/${CHANNELS.general}`);
    await remi.ask(words);
    await remi.openThread(words);
    const path = new URL(remi.page.url()).pathname.replace('/remi/', '/alice/');
    await alice.page.goto(path);
    return path;
  };

  const unknown = await ask('Please deploy checkout 2.4.1 to staging.');
  await alice.click(pendingCard(alice), 'Approve');
  await alice.threadMessage('Running').waitFor();
  await alice.openStep('Kill the bot during an action');
  await alice.click(alice.tour, 'Kill the bot now');
  const unknownCard = (person: PersonPage) => cardWith(person, 'It ran').waitFor();
  await unknownCard(alice);
  states.set('an unknown outcome', { path: unknown, show: unknownCard });

  const settled = await ask('Please refund 120 dollars of order A-1001, the top is scratched.');
  await alice.click(pendingCard(alice), 'Approve');
  const reply = (person: PersonPage) => person.threadMessage(/Refunded \$120\.00 of order/).waitFor();
  await reply(alice);
  states.set('a settled card', { path: settled, show: reply });

  const pending = await ask('Please refund 130 dollars of order A-1001, it came late.');
  states.set('a pending card', { path: pending, show: (person) => pendingCard(person).waitFor() });
  states.set('Details', {
    path: pending,
    show: async (person) => {
      await chooseAction(pendingCard(person), 'Details');
      await person.dialog.getByText('Arguments, exactly as they will run').waitFor();
    },
  });
  states.set('the form of an edit', {
    path: pending,
    show: async (person) => {
      await chooseAction(pendingCard(person), 'Edit');
      await person.dialog.getByLabel(/amount/i).waitFor();
    },
  });

  const edited = await ask('Please refund 141 dollars of order A-1001.');
  await chooseAction(pendingCard(alice), 'Edit');
  await alice.dialog.getByLabel(/amount/i).fill('142');
  await alice.click(alice.dialog, 'Submit');
  const newCard = (person: PersonPage) =>
    pendingCard(person)
      .getByText(/142\.00/)
      .first()
      .waitFor();
  await newCard(alice);
  states.set('an edited request', { path: edited, show: newCard });

  states.set('a deletion and its confirmation', {
    path: await ask('Please delete the customer Tomo Arai.'),
    show: async (person) => {
      await person.click(cardWith(person, REVIEW), REVIEW);
      await person.dialog.waitFor();
    },
  });

  states.set('a form', {
    path: (await ask('I want to report an incident.')).replace('/alice/', '/remi/'),
    show: async (person) => {
      await person.click(cardWith(person, 'Fill in'), 'Fill in');
      await person.dialog.getByLabel('How bad is it?').waitFor();
    },
  });

  states.set('a call-back', {
    path: (await ask('Tell me when the build of checkout is done.')).replace('/alice/', '/remi/'),
    show: (person) => person.threadMessage('Waiting for').last().waitFor(),
  });

  states.set('Home with several requests', {
    path: '/alice/home',
    show: (person) =>
      person.page.getByRole('region', { name: 'Home' }).getByRole('heading').first().waitFor(),
  });

  states.set('the answer of the slash command', {
    path: `/alice/${CHANNELS.general}`,
    show: async (person) => {
      const field = person.page.getByRole('textbox', { name: /^Message/ });
      await field.fill('/countersign');
      await field.press('Enter');
      await person.waitForNotice('Waiting for you');
    },
  });

  states.set('the steps under More', {
    path: `/alice/${CHANNELS.general}`,
    show: async (person) => {
      const toTour = person.page.getByRole('button', { name: 'Tour', exact: true });
      await person.tour.or(toTour).first().waitFor();
      if (!(await person.tour.isVisible())) await toTour.click();
      await person.openStep('Two approvals for a deletion');
    },
  });
});

/** The button of a high-risk card, which opens the confirmation. */
const REVIEW = 'Review and approve…';

/** The newest card of the thread with this button. */
function cardWith(person: PersonPage, button: string): Locator {
  const name = { name: button, exact: true };
  return person.thread
    .getByRole('listitem')
    .filter({ has: person.page.getByRole('button', name) })
    .last();
}

function pendingCard(person: PersonPage): Locator {
  return cardWith(person, 'Approve');
}

/** Chooses an action of a card, which is a button of its own or in the card's menu. */
async function chooseAction(card: Locator, action: string): Promise<void> {
  const button = card.getByRole('button', { name: action, exact: true });
  const menu = card.getByRole('button', { name: 'More actions' });
  await button.or(menu).first().waitFor();
  if ((await button.count()) > 0) return button.click();
  await menu.click();
  await card.getByRole('menuitem', { name: action, exact: true }).click();
}

for (const [device, colour, look] of LOOKS)
  test(`no state of a request has an axe violation or is wider than the window, on a ${device}, ${colour}`, async () => {
    const person = await playground.openAs('alice', look);
    const findings: string[] = [];
    for (const [name, { path, show }] of states) {
      await person.page.goto(path);
      await show(person);
      for (const violation of await findViolations(person.page)) findings.push(`${name}: ${violation}`);
      const { width = 0 } = person.page.viewportSize() ?? {};
      const shown = await person.page.evaluate<number>('document.documentElement.scrollWidth');
      if (shown > width) findings.push(`${name}: ${shown} pixels wide, in a window of ${width}`);
      await closeDialog(person);
    }
    expect(states.size).toBe(12);
    expect(findings).toEqual([]);
  });

test('every control of each state is reached with the keyboard, and a dialog keeps the focus', async () => {
  const person = await playground.openAs('alice');
  const findings: string[] = [];
  for (const [name, { path, show }] of states) {
    await person.page.goto(path);
    await show(person);
    for (const problem of await findUnreachable(person.page)) findings.push(`${name}: ${problem}`);
    await closeDialog(person);
  }
  expect(findings).toEqual([]);
});

/** Closes the dialog, which belongs to the person: the next window would show it too. */
async function closeDialog(person: PersonPage): Promise<void> {
  if (!(await person.dialog.isVisible())) return;
  await person.page.keyboard.press('Escape');
  await person.dialog.waitFor({ state: 'detached' });
}
