import { expect, test } from 'vitest';
import { isFull } from '../support/count-for.ts';
import { CAST, startStory } from './support.ts';

const { alice } = CAST;
const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., limits: { pending_per_thread: 50, pending_per_person: 50 } }
policies:
  default: { approvers: [${alice}], notify: { load: { summary: { after: 4, within: 10m } } } }
tools:
  delete_customer: { module: ./examples/shop/tools/delete-customer.ts, title: 'Delete {{input.customer}}' }
`;
const customers = Array.from({ length: 12 }, (_, index) => `customer ${index + 1}`);
const calls = customers.map((customer) => ({ name: 'delete_customer', arguments: { customer } }));

/** The customers that messages name, in the order of the messages. */
const named = (texts: readonly string[]) =>
  texts.flatMap((text) => [...text.matchAll(/customer \d+/g)].slice(0, 1).map(([name]) => name));

const LIMITS = [
  ['with no limits', 'off'],
  ['at the limits of Slack, which takes one message a second', 'slack'],
] as const;

test.for(isFull ? LIMITS : LIMITS.slice(0, 1))(
  'the cards of one turn come in the order of the calls, in the thread, in direct messages and in the summary, %s',
  async ([, rateLimits]) => {
    const story = await startStory({ manifest, slack: { rateLimits }, replies: [{ calls }] });
    const thread = story.ask('delete them all');
    const cards = () => story.repliesIn(thread).filter(({ text }) => text.startsWith('Approval needed'));
    await story.workspace.until(() => cards().length === 12, { what: 'twelve cards' });
    expect(named(cards().map(({ text }) => text))).toEqual(customers);
    expect(cards().map(({ blocks }) => /\d+ of 12/.exec(JSON.stringify(blocks))?.[0])).toEqual(
      customers.map((_, index) => `${index + 1} of 12`),
    );

    const summary = await story.directly(alice).shows(/8 requests in this list wait for you/);
    const own = story.workspace
      .messagesIn(story.workspace.directMessages(alice))
      .filter(({ text }) => text.startsWith('Approval needed'));
    expect(named(own.map(({ text }) => text))).toEqual(customers.slice(0, 4));
    const rows = [...JSON.stringify(summary.blocks).matchAll(/Delete \\"(customer \d+)/g)].map(
      ([, name]) => name,
    );
    expect([...new Set(rows)]).toEqual(customers.slice(4));
    expect(JSON.stringify(summary.blocks)).toMatch(/5 of 12.*12 of 12/);
  },
);
