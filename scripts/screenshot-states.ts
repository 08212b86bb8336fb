import type { PersonPage } from '../playground/chromium/person-page.ts';
import { CHANNELS } from '../playground/slack/default-cast.ts';

/** A state of the page: the path, and the clicks before the screenshot. */
export interface Shot {
  readonly name: string;
  readonly path: string;
  readonly show?: (person: PersonPage, isNarrow: boolean) => Promise<unknown>;
}

/** The mark of a card that waits, by its risk. */
const WAITS = /🟡|🔴/;
const GENERAL = `/${CHANNELS.general}`;

/** The states that need no request but the first, which is there. */
export const FIRST_SHOTS: readonly Shot[] = [
  {
    name: 'opening',
    path: '/',
    show: (person) => person.pendingCard('Refund').getByRole('button', { name: 'Approve' }).waitFor(),
  },
  {
    name: 'people',
    path: `/alice${GENERAL}`,
    show: async (person, isNarrow) => {
      if (isNarrow) await person.click(person.page.getByRole('main'), 'Back to the channels and people');
      await person.page.getByRole('button', { name: /^You are/ }).click();
    },
  },
];

/** Creates every state of a request, and returns where each is and what shows it. */
export async function createStates(visit: (path: string) => Promise<PersonPage>): Promise<Shot[]> {
  const remi = await visit(`/remi${GENERAL}`);
  const alice = await visit(`/alice${GENERAL}`);
  const ask = async (text: string, shown: string | RegExp = WAITS): Promise<string> => {
    await remi.page.goto(`/remi${GENERAL}`);
    await remi.ask(text);
    await remi.openThread(text);
    await remi.threadMessage(shown).waitFor();
    const path = new URL(remi.page.url()).pathname.replace('/remi', '');
    await alice.page.goto(`/alice${path}`);
    return path;
  };

  const expired = await ask('Please publish on the status page: "Payments are slow, we are on it."');
  const question = await ask('Please look up an order for me.', 'Which order was it?');
  const unknown = await ask('Please deploy checkout 2.4.1 to staging.');
  await alice.click(alice.pendingCard('Deploy'), 'Approve');
  await alice.threadMessage('Running').waitFor();
  await alice.openStep('Kill the bot during an action');
  await alice.click(alice.tour, 'Kill the bot now');
  await alice.threadMessage('❓ Deploy').waitFor();

  const settled = await ask('Please refund 120 dollars of order A-1001, the top is scratched.');
  await alice.click(alice.pendingCard('Refund'), 'Approve');
  await alice.threadMessage(/Refunded \$120\.00/).waitFor();
  const edited = await ask('Please refund 141 dollars of order A-1003, it came late.');
  await alice.choose(alice.pendingCard('Refund'), 'Edit');
  await alice.dialog.getByLabel(/amount/i).fill('142');
  await alice.click(alice.dialog, 'Submit');
  await alice.pendingCard('Refund $142.00').waitFor();
  const deletion = await ask('Please delete the customer Tomo Arai.');
  await alice.approveTyped(alice.pendingCard('Delete customer'), 'Tomo Arai');
  await alice.threadMessage('1 of 2 approvals').waitFor();
  await ask('Please deploy search 3.0.2 to production.');
  await ask('Write "Water the plants on Friday" into todo.txt.');
  const form = await ask('I want to report an incident.', 'Report an incident');
  const callback = await ask('Tell me when the build of checkout is done.', 'Waiting for an external system');
  const pending = await ask('Please refund 130 dollars of order A-1001, the lid is broken.');
  await remi.page.goto(`/remi${expired}`);
  await remi.threadMessage('⌛ Publish').waitFor();
  await Promise.all([remi, alice].map(({ page }) => page.context().close()));

  return [
    { name: 'pending', path: `/alice${pending}`, show: withRecord('🟡') },
    { name: 'settled', path: `/alice${settled}`, show: withCard('✅') },
    { name: 'deletion', path: `/bruno${deletion}`, show: withCard('1 of 2 approvals') },
    {
      name: 'deletion-confirm',
      path: `/bruno${deletion}`,
      show: clickOn('Delete customer', 'Review and approve…'),
    },
    { name: 'edited', path: `/bruno${edited}`, show: withCard('$142.00') },
    { name: 'form', path: `/remi${form}`, show: withCard('Report an incident') },
    { name: 'form-modal', path: `/remi${form}`, show: openForm },
    { name: 'callback', path: `/remi${callback}`, show: withCard('Waiting for an external system') },
    { name: 'unknown', path: `/alice${unknown}`, show: withRecord('❓ Deploy') },
    { name: 'home', path: '/bruno/home', show: waitForHome },
    { name: 'home-requester', path: '/remi/home', show: waitForHome },
    { name: 'question', path: `/remi${question}`, show: withCard('Which order was it?') },
    { name: 'expired', path: `/remi${expired}`, show: withCard('⌛ Publish') },
    { name: 'reject', path: `/alice${pending}`, show: rejectEmpty },
    { name: 'edit', path: `/alice${pending}`, show: chooseOn('Edit') },
    { name: 'details', path: `/bruno${edited}`, show: chooseOn('Details') },
    { name: 'record', path: `/alice${pending}`, show: openRecord },
    { name: 'channel', path: `/alice${GENERAL}` },
  ];
}

type Show = NonNullable<Shot['show']>;

function withCard(text: string): Show {
  return async (person) => {
    const card = person.threadMessage(text);
    await card.waitFor();
    await card.scrollIntoViewIfNeeded();
  };
}

function withRecord(text: string): Show {
  return async (person, isNarrow) => {
    await withCard(text)(person, isNarrow);
    if (!isNarrow) await openRecord(person, isNarrow);
  };
}

function clickOn(title: string, button: string): Show {
  return async (person) => {
    await person.click(person.pendingCard(title), button);
    await person.dialog.waitFor();
  };
}

function chooseOn(item: string): Show {
  return async (person) => {
    await person.choose(person.pendingCard('Refund'), item);
    await person.dialog.waitFor();
  };
}

async function openForm(person: PersonPage): Promise<void> {
  await person.click(person.thread, 'Fill in');
  await person.dialog.getByLabel('How bad is it?').waitFor();
}

async function rejectEmpty(person: PersonPage): Promise<void> {
  await person.click(person.pendingCard('Refund'), 'Reject');
  await person.click(person.dialog, 'Reject');
  await person.dialog.getByText('Please').waitFor();
}

async function openRecord(person: PersonPage, isNarrow: boolean): Promise<void> {
  const role = isNarrow ? 'button' : 'tab';
  await person.page.getByRole(role, { name: 'Record' }).last().click();
  await person.record.getByText(/Audit chain/).scrollIntoViewIfNeeded();
}

function waitForHome(person: PersonPage): Promise<void> {
  return person.page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
}
