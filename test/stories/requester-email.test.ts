import { expect, test } from 'vitest';
import { KEYS, startCalling, startIssuer, WITH_CALLERS } from './calling.ts';
import { CAST, SHIPPED_APP, startStory } from './support.ts';

const { requester, alice, bruno } = CAST;
const slack = { app: { scopes: [...(SHIPPED_APP.scopes ?? []), 'users:read.email'] } };
const OTHERS =
  '[{ require: never, when: "input.customer.lowerAscii() != requester.email" }, { policy: default }]';
const NOT_OWN = `[{ require: deny, when: "input.customer.lowerAscii() == requester.email", reason: "Nobody deletes their own account." }, { require: never }]`;

const manifestWith = (approval: string) => `
agent: { instructions: Help. }
policies: { default: { approvers: [${bruno}], notify: { direct_messages: false } } }
tools:
  delete_customer: { module: ./examples/shop/tools/delete-customer.ts, approval: ${approval} }
`;
/** Starts a bot under a rule about addresses; it deletes the customer whom the message names, and *mine* is the person's address in capitals. */
async function startDeleting(approval: string, options: { readonly slack?: typeof slack } = {}) {
  const own = { email: '' };
  const story = await startStory({
    ...options,
    manifest: manifestWith(approval),
    replies: ({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return { text: 'I am done.' };
      const customer = /mine/.test(JSON.stringify(last)) ? own.email.toUpperCase() : 'bob@shop.example';
      return { calls: [{ name: 'delete_customer', arguments: { customer } }] };
    },
  });
  const { users, team } = story.workspace.state;
  own.email = `${users.get(requester)?.name}@${team.domain}.example`;
  return story;
}

test("a rule knows the requester's own address, in small letters", async () => {
  const story = await startDeleting(OTHERS, { slack });
  await story.ask('delete bob').shows(/I am done\./);
  await story.ask('delete mine').shows(/Approval needed/);
});

test('what nobody may do to their own account is denied, with the reason of the rule', async () => {
  const story = await startDeleting(NOT_OWN, { slack });
  await story.ask('delete bob').shows(/I am done\./);
  expect(story.toldOfCalls().join()).toContain('deletedOrders');
  await story.ask('delete mine').shows(/I am done\./);
  expect(story.toldOfCalls().join()).toMatch(/Nobody deletes their own account\.(?! \(not checked)/);
});

test('without the scope for addresses nothing runs: a rule asks, and a denial says why', async () => {
  const asking = await startDeleting(OTHERS);
  await asking.ask('delete bob').shows(/Approval needed/);

  const denying = await startDeleting(NOT_OWN);
  await denying.ask('delete bob').shows(/I am done\./);
  expect(denying.toldOfCalls().join()).toContain(
    "own account. (not checked: the requester's email address is not known)",
  );
});

test('a caller has the address of the person for whom it asks, and without one none', async () => {
  const issuer = await startIssuer();
  const manifest = WITH_CALLERS.replace(
    '    links: [ci.example.com]',
    `    links: [ci.example.com]\n    on_behalf_of: { issuer: "${issuer.url}", audience: people }`,
  ).replace(
    /(refund-order\.ts), approval: \[.*?\] \}/,
    `$1, approval: [{ require: never, when: "input.reason != requester.email" }, { policy: default }] }`,
  );
  const door = await startCalling({ manifest, slack });
  const { users, team } = door.workspace.state;
  const email = `${users.get(alice)?.name}@${team.domain}.example`;
  const token = await issuer.token({ email, email_verified: true }, { audience: 'people' });
  const forAlice = await door.refund(1_000, { key: KEYS.pipeline, more: { on_behalf_of: token } });
  expect((await door.end(forAlice.body.id)).body.status).toBe('succeeded');
  await door.refund(1_000, { key: KEYS.pipeline });
  await door.place.shows(/Approval needed/);
});
