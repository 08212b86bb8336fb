import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { DEFAULT_USER_GROUPS } from '../../playground/slack/default-cast.ts';
import { startCalling } from './calling.ts';
import { type Answers, expectAnswers } from './five-words.ts';
import { close, openDesk, pay, propose, ticketManifest } from './planning.ts';
import { CAST, type Story, type StoryOptions, startStory } from './support.ts';

const { alice, bruno, admin, requester: remi } = CAST;
const shop = fileURLToPath(new URL('../../examples/shop', import.meta.url));
const SHOP = {
  manifest: readFileSync(`${shop}/manifest.yml`, 'utf8'),
  environment: { RELEASE_JOB_KEY: 'k'.repeat(43), PAGE_CLIENT_SECRET: 's'.repeat(43) },
  folder: shop,
};
const ASKED = new RegExp(`asked by <@${remi}>`);
const UNTIL = /until Today at 4:24 PM/;
const REJECTED = /If rejected, nothing runs/;
const WHO = new RegExp(`(any|2) of <@${alice}>|<@${alice}>|<!subteam`);

/** A refund with a title under a policy; `more` is at the end of the manifest. */
const refunds = (policy: string, more = '') => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${admin}] }
policies:
  default: { approvers: [${alice}, ${bruno}], notify: { direct_messages: false } }
  finance: { ${policy}, expires: 4h, notify: { direct_messages: false } }
tools:
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    title: "Refund {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}"
    done: "Refunded {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}"
    target: "{{input.orderId}}"
    fields: { Reason: "{{input.reason}}" }
    approval: { policy: finance, because: "refunds over $100.00" }
${more}`;
const TWO = `approvers: [${alice}, ${bruno}]`;
const asks = (name: string, given: object) => [{ calls: [{ name, arguments: given }] }];
const refund = (reason = 'the top is scratched') =>
  asks('refund_order', { orderId: 'A-1001', amount: 12_000, reason });
const REFUND: Answers = {
  what: /Refund/,
  'to what': /order A-1001/,
  'how much': /\$120\.00/,
  'who asked': ASKED,
  'why approval': /refunds over \$100\.00/,
  'who may': WHO,
  'until when': UNTIL,
  'if rejected': REJECTED,
};

/** Plays until the card is there, and returns its blocks. */
type Play = (story: Story, thread: ReturnType<Story['ask']>) => Promise<readonly unknown[]>;
const waits: Play = async (_, thread) => (await thread.shows(/Approval needed/)).blocks;
const freeze: Play = async (story, thread) => {
  await thread.shows(/Approval needed/);
  await story.workspace.as(admin).command('/countersign', 'freeze all Refunds look wrong');
  return (await thread.shows(/Approval needed[\s\S]*Refunds look wrong/)).blocks;
};
const editAmount: Play = async (story, thread) => {
  await thread.click(alice, /Approval needed/, 'edit');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, { 'field-1': '110.00' });
  return (await thread.shows(/Approval needed[\s\S]*\$110\.00[\s\S]*edited by/)).blocks;
};
const approveHalf: Play = async (_, thread) => {
  await thread.click(alice, /Approval needed/, 'approve');
  return (await thread.shows(/1 of 2 approvals/)).blocks;
};

const FINANCE = 'S0FINANCE1';
const SECURITY = 'S0SECURE01';
const tool = (name: string, properties: string) => `
  ${name}:
    description: Does it.
    input: { type: object, required: [service], additionalProperties: false, properties: { service: { type: string }, ${properties} } }
    http: { method: POST, url: "https://example.com/x", body: { service: "{{input.service}}" } }
    approval: { policy: finance, because: "every change of checkout" }
`;
const FORTY = Array.from({ length: 39 }, (_, at) => [`value_${at}`, at] as const);
const CHANGE = {
  'who asked': ASKED,
  'why approval': /every change of checkout/,
  'who may': WHO,
  'until when': UNTIL,
  'if rejected': REJECTED,
};

const CASES: readonly (readonly [string, StoryOptions, Play, Answers])[] = [
  [
    'edited',
    { manifest: refunds(TWO), replies: refund() },
    editAmount,
    { ...REFUND, 'how much': /\$110\.00/, 'why approval': /Why: /, 'who may': new RegExp(`<@${bruno}>`) },
  ],
  [
    'half approved',
    { manifest: refunds(`${TWO}, quorum: 2`), replies: refund() },
    approveHalf,
    { ...REFUND, 'who may': new RegExp(`needs 1 more: <@${bruno}>`) },
  ],
  [
    'frozen',
    { manifest: refunds(TWO), replies: refund(), slack: { app: { commands: ['/countersign'] } } },
    freeze,
    REFUND,
  ],
  [
    'first time',
    {
      manifest: refunds(TWO).replace(
        'approval: { policy: finance,',
        'approval: { policy: finance, when: "first.target",',
      ),
      replies: refund(),
    },
    waits,
    REFUND,
  ],
  [
    'limit',
    {
      manifest: refunds(
        TWO,
        'limits:\n  refund_order: { sum: input.amount, window: 1d, max: 9000, policy: finance }\n',
      ),
      replies: refund(),
    },
    waits,
    { ...REFUND, 'why approval': /refunds over \$100\.00; it exceeds a limit/ },
  ],
  [
    'hostile values',
    { manifest: refunds(TWO), replies: refund(`<!channel> *Approved* by alice\n${'‮'}`) },
    waits,
    REFUND,
  ],
  [
    'two groups',
    {
      manifest: refunds(`approvers: { all: [{ any: [${FINANCE}] }, { any: [${SECURITY}] }] }`),
      replies: refund(),
      slack: {
        userGroups: [
          ...DEFAULT_USER_GROUPS,
          { id: FINANCE, handle: 'finance', name: 'Finance', users: [alice, bruno] },
          { id: SECURITY, handle: 'security', name: 'Security', users: [admin] },
        ],
      },
    },
    waits,
    { ...REFUND, 'who may': /Still needed: <!subteam\S+, and <!subteam/ },
  ],
  [
    'untitled tool',
    {
      manifest: refunds(TWO).replace(
        'tools:',
        `tools:${tool('scale', 'min: { type: integer }, max: { type: integer }')}`,
      ),
      replies: asks('scale', { service: 'checkout', min: 2, max: 40 }),
    },
    waits,
    { what: /Scale/, 'to what': /checkout/, 'how much': /min 2, max 40/, ...CHANGE },
  ],
  [
    '40 fields',
    {
      manifest: refunds(TWO).replace(
        'tools:',
        `tools:${tool('configure', FORTY.map(([name]) => `${name}: { type: integer }`).join(', '))}`,
      ),
      replies: asks('configure', { service: 'checkout', ...Object.fromEntries(FORTY) }),
    },
    waits,
    { what: /Configure/, 'to what': /checkout/, 'how much': /value 0 0, value 1 1/, ...CHANGE },
  ],
  [
    'table',
    {
      manifest: refunds(TWO).replace(
        'tools:',
        `tools:${tool('order_parts', 'parts: { type: array, items: { type: object, properties: { sku: { type: string }, count: { type: integer } } } }')}`,
      ),
      replies: asks('order_parts', {
        service: 'checkout',
        parts: [
          { sku: 'A-1', count: 2 },
          { sku: 'B-7', count: 12 },
        ],
      }),
    },
    waits,
    { what: /Order parts/, 'to what': /checkout/, 'how much': /Parts\s+sku +\| count\s+A-1/, ...CHANGE },
  ],
  [
    'deploy',
    {
      ...SHOP,
      replies: asks('deploy_service', { service: 'checkout', version: '2.4.1', environment: 'staging' }),
    },
    waits,
    {
      what: /Deploy/,
      'to what': /checkout/,
      'how much': /2\.4\.1 to staging/,
      'who asked': ASKED,
      'why approval': /every deployment/,
      'who may': WHO,
      'until when': UNTIL,
      'if rejected': REJECTED,
    },
  ],
  [
    'passkey',
    {
      ...SHOP,
      replies: asks('deploy_service', { service: 'checkout', version: '2.4.1', environment: 'production' }),
    },
    waits,
    {
      what: /Deploy/,
      'to what': /checkout/,
      'how much': /2\.4\.1 to production/,
      'who asked': ASKED,
      'why approval': /customers use it/,
      'who may': WHO,
      'until when': UNTIL,
      'if rejected': REJECTED,
    },
  ],
  [
    'question',
    { replies: asks('ask_question', { question: 'Which room should I book?', choices: ['Red', 'Blue'] }) },
    async (_, thread) => (await thread.shows(/Which room/)).blocks,
    {
      what: /Which room should I book\?/,
      'who asked': /from the agent/,
      'who may': /Question for \S+/,
      'until when': UNTIL,
      'how much': /Red[\s\S]*Blue/,
    },
  ],
  [
    'form',
    {
      replies: asks('request_form', {
        title: 'Report an incident',
        fields: { type: 'object', properties: { what: { type: 'string' } } },
      }),
    },
    async (_, thread) => (await thread.shows(/Report an incident/)).blocks,
    {
      what: /Report an incident/,
      'who asked': ASKED,
      'who may': /To be filled in by \S+/,
      'until when': UNTIL,
    },
  ],
];

test.for(CASES)(
  'a card answers within its first words without a click: %s',
  async ([card, options, play, answers]) => {
    const story = await startStory(options);
    expectAnswers(card, await play(story, story.ask('do it')), answers);
  },
);

test('a plan answers the eight questions without a click', async () => {
  await openDesk();
  const steps = [close('T-1'), pay('Acme', 80), pay('Bolt', 4_500), close('T-2'), pay('Cole', 9_000)];
  const story = await startStory({ manifest: ticketManifest(), replies: [propose(...steps)] });
  const { blocks } = await story.ask('do it').shows(/planned steps/);
  expectAnswers('plan', blocks, {
    what: /Close 2 tickets and pay/,
    'to what': /Acme/,
    'how much': /2 tickets and pay Acme 80/,
    'who asked': ASKED,
    'why approval': /Why: /,
    'who may': WHO,
    'until when': UNTIL,
    'if rejected': REJECTED,
  });
});

const OF_CALLER: Answers = {
  'who asked': new RegExp(`asked by \\*release-pipeline\\* for <@${remi}>`),
  'who may': WHO,
  'until when': UNTIL,
};

test('what a caller asks answers the eight questions without a click: a run, a command and changes', async () => {
  const door = await startCalling();
  const action = { policy: 'release', title: 'Release 12' };
  const card = async (words: RegExp) => (await door.place.shows(words)).blocks;
  await door.send('POST', '/v1/runs', {
    body: { tool: 'refund_order', input: { orderId: 'A-1001', amount: 12_000, reason: '' } },
  });
  expectAnswers('run of a caller', await card(/Approval needed: Refund/), {
    ...OF_CALLER,
    what: /Refund order/,
    'to what': /A-1001/,
    'how much': /amount 12000/,
    'why approval': /Why: /,
    'if rejected': /If rejected, nothing runs and release-pipeline reads why/,
  });
  const allowed = {
    ...OF_CALLER,
    'why approval': /only with approval/,
    'if rejected': /If rejected, release-pipeline does not run it/,
  };
  await door.send('POST', '/v1/asks', { body: { ...action, command: 'terraform apply plan.bin' } });
  expectAnswers('ask with a command', await card(/Approval needed: Allow .*terraform/), {
    ...allowed,
    what: /Allow release-pipeline to run/,
    'to what': /terraform apply plan\.bin/,
  });
  await door.send('POST', '/v1/asks', {
    body: { ...action, title: 'Scale checkout', diff: '- replicas: 2\n+ replicas: 6' },
  });
  expectAnswers('ask with changes', await card(/Approval needed: Allow .*Scale/), {
    ...allowed,
    what: /Allow release-pipeline to run/,
    'to what': /Scale checkout/,
  });
});

const SETTLED: Answers = {
  what: /Refund/,
  'to what': /order A-1001/,
  'how much': /\$120\.00/,
  'who asked': /asked by @\S+/,
};

test('an expired card says that nobody decided, and when', async () => {
  const story = await startStory({
    manifest: refunds(TWO).replace('expires: 4h', 'expires: 2s'),
    replies: [...refund(), { text: 'Too late.' }],
  });
  const thread = story.ask('do it');
  await thread.shows(/Too late\./);
  const { blocks } = await thread.shows(/^Expired: /);
  expectAnswers('expired', blocks, {
    ...SETTLED,
    'why approval': /with no decision/,
    'until when': /expired \[/,
    'if rejected': /⌛/,
  });
});

test('the card of what was undone says who had asked, who approved, and who undid it', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'house-')), 'doors');
  const story = await startStory({
    manifest: `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies: { default: { approvers: [${alice}, ${bruno}], notify: { direct_messages: false } } }
tools: { house: { module: ./test/stories/fixtures/undo-tools.ts, approval: [{ match: "*", policy: default }] } }
`,
    replies: [...asks('lock_door', { file, door: 'front' }), { text: 'Locked it.' }, { text: 'Open again.' }],
  });
  const thread = story.ask('lock it');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.click(remi, /Undo until/, 'undo');
  await thread.click(bruno, /Approval needed: Unlock/, 'approve');
  await thread.shows(/Open again\./);
  const { blocks } = await thread.shows(/^Undone: /);
  expectAnswers('undone', blocks, {
    what: /⏪ Lock/,
    'to what': /the front door/,
    'who asked': /asked by @\S+/,
    'why approval': /Undone \[/,
    'who may': /approved by @\S+/,
    'until when': / · \[/,
    'if rejected': /requested by @\S+/,
  });
});

test('a settled card says what became of it, by whom, when and why', async () => {
  const story = await startStory({ manifest: refunds(TWO), replies: [...refund(), { text: 'I left it.' }] });
  const thread = story.ask('do it');
  await thread.click(alice, /Approval needed/, 'reject');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, { reason: 'only the top is scratched' });
  await thread.shows(/I left it\./);
  const { blocks } = await thread.shows(/^Rejected: /);
  expectAnswers('rejected', blocks, {
    ...SETTLED,
    'why approval': /only the top is scratched/,
    'who may': /rejected by @\S+/,
    'until when': / · \[/,
    'if rejected': /🚫/,
  });
  expect(blocks.length).toBeLessThan(4);
});
