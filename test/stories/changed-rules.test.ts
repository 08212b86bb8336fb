import { describe, expect, onTestFinished, test } from 'vitest';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { withBuiltTools } from '../support/build-module.ts';
import { startRecordingServer } from '../tools/http/recording-server.ts';
import { CAST, type Story, startStory } from './support.ts';
import { giveUpAttempts, openWorkshop, SILENT_WORKERS, workshopManifest } from './workshop.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], notify: { direct_messages: false } }
  two: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2, notify: { direct_messages: false } }
tools:
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    approval: { policy: default }
    allow: { people: [${CAST.requester}, ${CAST.alice}] }
`;

/** Starts a story with a bot whose manifest the test can exchange. */
async function startWith(manifest: string, options: Parameters<typeof startStory>[0]) {
  const story = await startStory({ ...options, manifest, withoutBot: true });
  const bot = await story.startOwnBot();
  const change = async (from: string, to: string) => {
    expect(manifest).toContain(from);
    const text = await withBuiltTools(manifest.replace(from, to));
    const parsed = parseManifest(text, { file: 'story.yml', environment: {} });
    if (!parsed.ok) throw new Error('The changed manifest has errors');
    await bot.toolbox.replace(parsed.manifest);
  };
  return { story, change };
}

const refunded = async (story: Story) => (await story.ledger.order('A-1001'))?.refunded;

test('a rule that was tightened while a request waits asks anew, and says what changed', async () => {
  const { story, change } = await startWith(MANIFEST, {
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
  });
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Needs 1 approval/);
  await change('approval: { policy: default }', 'approval: { policy: two }');
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/The rule changed from 1 to 2 approvals, so this needs a new approval\./);
  await thread.click(CAST.alice, /Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  expect(await refunded(story)).toBe(0);
  await thread.click(CAST.bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);
});

test('a policy that was tightened while a request waits asks anew', async () => {
  const { story, change } = await startWith(MANIFEST, { replies: [{ calls: [refund] }] });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Needs 1 approval/);
  await change(
    `default: { approvers: [${CAST.alice}, ${CAST.bruno}],`,
    `default: { approvers: [${CAST.alice}, ${CAST.bruno}], risk: high,`,
  );
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/The tool, its settings or its policy changed, so this needs a new approval\./);
  expect(await refunded(story)).toBe(0);
});

test('a request does not run for a person to whom the tool is no longer allowed', async () => {
  const { story, change } = await startWith(MANIFEST, {
    replies: [{ calls: [refund] }, { text: 'I cannot do that.' }],
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Needs 1 approval/);
  await change(`people: [${CAST.requester}, ${CAST.alice}]`, `people: [${CAST.alice}]`);
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/is no longer allowed to use this tool, so it did not run/);
  await thread.shows(/I cannot do that\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/is no longer allowed to use this tool/);
  expect(await refunded(story)).toBe(0);
});

describe('an action that was started before and may not be tried again has an unknown outcome', () => {
  test.each([
    [
      'its policy changed',
      'notify: { direct_messages: false }',
      'notify: { direct_messages: false }, risk: high',
      /changed, so this wasn't tried again[\s\S]*If it didn't run, ask for it again/,
      ['ran', 'did-not-run'],
    ],
    [
      'its requester may not use the tool any more',
      'approval: { policy: default }',
      `approval: { policy: default }, allow: { people: [${CAST.alice}] }`,
      /is no longer allowed to use this tool, so it wasn't tried again/,
      ['ran', 'did-not-run', 'run-again'],
    ],
  ])('because %s: people are asked, and it does not run', async (_, from, to, words, verdicts) => {
    const workshop = await openWorkshop();
    await workshop.hold('after');
    const { story, change } = await startWith(workshopManifest(), {
      replies: [{ calls: [workshop.call('stamp_part')] }, { text: 'Good to know.' }],
      ...SILENT_WORKERS,
    });
    onTestFinished(() => workshop.release('after'));
    const thread = story.ask('stamp a part');
    await thread.click(CAST.alice, /Approve/, 'approve');
    await workshop.has(1, 'effects');
    await change(from, to);
    await giveUpAttempts(story);
    const card = await thread.shows(/Outcome unknown: Stamp part[\s\S]*It was started before/);
    expect(JSON.stringify(card.blocks)).toMatch(words);
    const offered = [...JSON.stringify(card.blocks).matchAll(/"action_id":"(ran|did-not-run|run-again)"/g)];
    expect(offered.map(([, verdict]) => verdict)).toEqual(verdicts);
    await thread.shows(new RegExp(`started before and can't be tried again.*<@${CAST.admin}>`));
    await story.directly(CAST.admin).click(CAST.admin, /Outcome unknown: Stamp part/, 'ran');
    const modal = await story.modalFor(CAST.admin);
    await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'It lies on the bench.' });
    await thread.shows(/Good to know\./);
    expect(story.toldOfCalls().at(-1)).toMatch(/"ran".*It lies on the bench/);
    expect(await workshop.linesOf('tries')).toHaveLength(1);
  });
});

test('a header that changed from staging to production while a request waits asks anew', async () => {
  const server = await startRecordingServer();
  onTestFinished(() => server.stop());
  const manifest = `${MANIFEST.slice(0, MANIFEST.indexOf('tools:'))}tools:
  deploy:
    description: Deploys.
    http: { method: POST, url: "${server.origin}/deploy", headers: { x-stage: staging }, allow_private: ["127.0.0.1"] }
    approval: { policy: default }
`;
  const { story, change } = await startWith(manifest, {
    replies: [{ calls: [{ name: 'deploy', arguments: {} }] }, { text: 'Deployed.' }],
  });
  const thread = story.ask('deploy');
  const card = await thread.shows(/Needs 1 approval/);
  await change('x-stage: staging', 'x-stage: production');
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/its settings or its policy changed, so this needs a new approval/);
  expect(server.requests).toEqual([]);
  await thread.click(CAST.alice, /Needs 1 approval/, 'approve');
  await thread.shows(/Deployed\./);
  expect(server.requests.map(({ headers }) => headers['x-stage'])).toEqual(['production']);
});

test('a request with a digest of an older version does not run, and is asked anew', async () => {
  const { story } = await startWith(MANIFEST, { replies: [{ calls: [refund] }] });
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Needs 1 approval/);
  const [key = ''] = await story.redis.keys(`{${story.prefix}}:ask:*`);
  expect(await story.redis.hset(key, 'digest', 'a digest of version 1')).toBe(0);
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/changed, so this needs a new approval/);
  await thread.shows(/Needs 1 approval/);
  expect(await refunded(story)).toBe(0);
});
