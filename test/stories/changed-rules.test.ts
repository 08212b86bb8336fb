import { expect, onTestFinished, test } from 'vitest';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { withBuiltTools } from '../support/build-module.ts';
import { startRecordingServer } from '../tools/http/recording-server.ts';
import { CAST, startStory } from './support.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], direct_messages: false }
  two: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2, direct_messages: false }
tools:
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    approval: { policy: default }
    allow: { people: [${CAST.requester}, ${CAST.alice}] }
`;

type Story = Awaited<ReturnType<typeof startStory>>;

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
  const card = await thread.shows(/0 of 1 signed/);
  await change('approval: { policy: default }', 'approval: { policy: two }');
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/The rule changed from 1 to 2 approvals, so this needs a new approval\./);
  await thread.click(CAST.alice, /0 of 2 signed/, 'approve');
  await thread.shows(/1 of 2 signed/);
  expect(await refunded(story)).toBe(0);
  await thread.click(CAST.bruno, /1 of 2 signed/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);
});

test('a policy that was tightened while a request waits asks anew', async () => {
  const { story, change } = await startWith(MANIFEST, { replies: [{ calls: [refund] }] });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/0 of 1 signed/);
  await change(
    `default: { approvers: [${CAST.alice}, ${CAST.bruno}],`,
    `default: { approvers: [${CAST.alice}, ${CAST.bruno}], risk: high,`,
  );
  await thread.click(CAST.alice, /0 of 1 signed/, 'approve');
  await thread.shows(/The tool, its settings or its policy changed, so this needs a new approval\./);
  expect(await refunded(story)).toBe(0);
});

test('a request does not run for a person to whom the tool is no longer allowed', async () => {
  const { story, change } = await startWith(MANIFEST, {
    replies: [{ calls: [refund] }, { text: 'I cannot do that.' }],
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/0 of 1 signed/);
  await change(`people: [${CAST.requester}, ${CAST.alice}]`, `people: [${CAST.alice}]`);
  await thread.click(CAST.alice, /0 of 1 signed/, 'approve');
  await thread.shows(/may use this tool any more, so it did not run/);
  await thread.shows(/I cannot do that\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/may use this tool any more/);
  expect(await refunded(story)).toBe(0);
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
  const card = await thread.shows(/0 of 1 signed/);
  await change('x-stage: staging', 'x-stage: production');
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/its settings or its policy changed, so this needs a new approval/);
  expect(server.requests).toEqual([]);
  await thread.click(CAST.alice, /0 of 1 signed/, 'approve');
  await thread.shows(/Deployed\./);
  expect(server.requests.map(({ headers }) => headers['x-stage'])).toEqual(['production']);
});

test('a request with a digest of an older version does not run, and is asked anew', async () => {
  const { story } = await startWith(MANIFEST, { replies: [{ calls: [refund] }] });
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/0 of 1 signed/);
  const [key = ''] = await story.redis.keys(`${story.prefix}*:request:*`);
  expect(await story.redis.hset(key, 'digest', 'a digest of version 1')).toBe(0);
  await story.workspace.as(CAST.alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/changed, so this needs a new approval/);
  await thread.shows(/0 of 1 signed/);
  expect(await refunded(story)).toBe(0);
});
