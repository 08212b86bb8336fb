import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { expectAnswers, wordsIn } from './five-words.ts';
import { LONG_SQL } from './fixtures/run-sql.ts';
import { manifest as governed, startGoverned } from './governed.ts';
import { CAST, PLACES, startStory } from './support.ts';
import { giveUpAttempts, SILENT_WORKERS } from './workshop.ts';

const { alice, bruno, requester: remi } = CAST;

const shop = fileURLToPath(new URL('../../examples/shop', import.meta.url));
const shopManifest = readFileSync(`${shop}/manifest.yml`, 'utf8');
const WHO = new RegExp(`any of <@${alice}>, <@${bruno}>(, <@\\w+>)?`);
const ASKED = new RegExp(`asked by <@${remi}>`);
const UNTIL = /until Today at 4:24 PM/;
const REJECTED = /If rejected, nothing runs/;

test('a refund answers the eight questions without a click, and so does its row in Home', async () => {
  const refund = { orderId: 'A-1001', amount: 12_000, reason: 'the top is scratched' };
  const story = await startStory({
    manifest: shopManifest,
    environment: { RELEASE_JOB_KEY: 'k'.repeat(43), PAGE_CLIENT_SECRET: 's'.repeat(43) },
    folder: shop,
    replies: [{ calls: [{ name: 'refund_order', arguments: refund }] }],
  });
  const thread = story.ask('refund it');
  const { blocks } = await thread.shows(/Approval needed/);
  const answers = expectAnswers('refund', blocks, {
    what: /Refund/,
    'to what': /order A-1001/,
    'how much': /\$120\.00/,
    'who asked': ASKED,
    'why approval': /refunds over \$100\.00/,
    'who may': WHO,
    'until when': UNTIL,
    'if rejected': REJECTED,
  });
  expect(wordsIn(answers.join(' ')).length, answers.join(' ')).toBeLessThanOrEqual(25);
  story.workspace.as(alice).openHome();
  const home = await story.workspace.until(
    () => {
      const shown = story.workspace.homeOf(alice)?.blocks ?? [];
      return JSON.stringify(shown).includes('Waiting for you (1)') ? shown : undefined;
    },
    { what: 'Home' },
  );
  expectAnswers('Home row', home, {
    what: /Refund/,
    'to what': /order A-1001/,
    'how much': /\$120\.00/,
    'who asked': new RegExp(`<@${remi}> · <#${PLACES.general}>`),
    'why approval': /Why: refunds over \$100\.00/,
    'who may': /Waiting for you/,
    'until when': /expires in 3 h 59 min|expires in 4 h/,
    'if rejected': /If you reject, nothing runs/,
  });
});

test('a deletion answers the eight questions without a click', async () => {
  const story = await startStory({
    manifest: shopManifest,
    environment: { RELEASE_JOB_KEY: 'k'.repeat(43), PAGE_CLIENT_SECRET: 's'.repeat(43) },
    folder: shop,
    replies: [{ calls: [{ name: 'delete_customer', arguments: { customer: 'Tomo Arai' } }] }],
  });
  const { blocks } = await story.ask('delete Tomo').shows(/Approval needed/);
  expectAnswers('deletion', blocks, {
    what: /Delete customer/,
    'to what': /Tomo Arai/,
    'how much': /and all their orders/,
    'who asked': ASKED,
    'why approval': /deletions need two people/,
    'who may': new RegExp(`any 2 of <@${alice}>, <@${bruno}>`),
    'until when': UNTIL,
    'if rejected': REJECTED,
  });
});

test('a long statement answers the eight questions without a click', async () => {
  const story = await startStory({
    manifest: `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies: { default: { approvers: [${alice}, ${bruno}], expires: 4h } }
tools:
  run_sql:
    module: ./test/stories/fixtures/run-sql.ts
    title: "Run SQL on {{input.database}}"
    fields: { Statement: "{{input.query | code}}" }
    approval: { policy: default, because: "every change of billing data" }
`,
    replies: [{ calls: [{ name: 'run_sql', arguments: { database: 'billing', query: LONG_SQL } }] }],
  });
  const { blocks } = await story.ask('waive the fees').shows(/Approval needed/);
  expectAnswers('long SQL', blocks, {
    what: /Run SQL/,
    'to what': /on billing/,
    'how much': /214 invoices have a late fee/,
    'who asked': ASKED,
    'why approval': /every change of billing data/,
    'who may': WHO,
    'until when': UNTIL,
    'if rejected': REJECTED,
  });
});

test('an unknown outcome answers the eight questions without a click', async () => {
  const deployment = { service: 'checkout', version: '2.4.1', environment: 'staging' };
  const story = await startStory({
    manifest: shopManifest,
    environment: { RELEASE_JOB_KEY: 'k'.repeat(43), PAGE_CLIENT_SECRET: 's'.repeat(43) },
    folder: shop,
    replies: [{ calls: [{ name: 'deploy_service', arguments: deployment }] }],
    ...SILENT_WORKERS,
  });
  const thread = story.ask('deploy it');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Running: Deploy/);
  await giveUpAttempts(story);
  const { blocks } = await thread.shows(/Outcome unknown: Deploy/);
  expectAnswers('unknown outcome', blocks, {
    what: /Deploy/,
    'to what': /checkout/,
    'how much': /2\.4\.1 to staging/,
    'who asked': new RegExp(`asked by @${remi}`),
    'why approval': /It may or may not have happened/,
    'who may': /@\S+ : check/,
    'until when': /There is no deadline/,
    'if rejected': /then say what happened/,
  });
});

test('a change of the rules answers the eight questions without a click', async () => {
  const story = await startGoverned();
  const bot = await story.start(governed(2));
  bot.write(governed(1));
  const { blocks } = await story.card();
  expectAnswers('policy change', blocks, {
    what: /Change the rules/,
    'to what': /manifest\.yml/,
    'how much': /default\W+quorum: 2[\s\S]{1,40}1/,
    'who asked': /manifest\.yml was changed on the server/,
    'why approval': /Why: /,
    'who may': WHO,
    'until when': UNTIL,
    'if rejected': /If rejected, the rules stay/,
  });
});
