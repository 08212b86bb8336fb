import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { CAST } from '../../playground/slack/default-cast.ts';
import type { Shortcoming } from '../../playground/slack/shortcomings.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { GOOD, GOOD_SCOPES, jsonLines, newFolder, run, writeManifest } from './support.ts';

async function startWorkspace(...shortcomings: readonly Shortcoming[]) {
  const slack = await startLocalSlack({ app: { scopes: GOOD_SCOPES } });
  const model = await startLocalModel({ script: [{ text: 'ok' }] });
  onTestFinished(async () => {
    await slack.stop();
    await model.stop();
  });
  slack.workspace.fallShort(...shortcomings);
  const environment = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'key',
    OPENAI_BASE_URL: model.url,
    OPENAI_MODEL: 'scripted',
    REDIS_URL: inject('redisUrl'),
    AUDIT_STATE_FILE: join(newFolder(), 'audit.state'),
    MANIFEST: writeManifest(`${GOOD}agent: { admins: [${CAST.alice}] }\n`),
  };
  return { slack, environment };
}

interface Found {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly means?: string;
  readonly fix?: string;
}

async function differing(
  environment: Readonly<Record<string, string>>,
  channel = '#general',
): Promise<Found[]> {
  const { out } = await run(['doctor', '--live', channel, '--without-tools', '--json'], environment);
  const [report] = jsonLines(out);
  const findings = report?.findings as Found[];
  return findings.filter(({ check, status }) => check.startsWith('live') && status !== 'ok');
}

test('in a Slack that does as documented nothing differs, and nothing is left of the check', async () => {
  const { slack, environment } = await startWorkspace();
  expect(await differing(environment)).toEqual([]);
  const left = slack.workspace.state.messages.filter(
    ({ deleted, bot_id }) => !deleted && bot_id !== undefined,
  );
  expect(left).toEqual([]);
  const made = slack.workspace.calls
    .filter(({ response }) => response.ok === true)
    .map(({ method }) => method);
  for (const method of [
    'chat.postEphemeral',
    'reactions.add',
    'files.completeUploadExternal',
    'files.delete',
    'views.publish',
  ])
    expect(made).toContain(method);
});

test.each<[Shortcoming, readonly string[]]>([
  ['no-agent', ['warning session: not_authorized', 'warning status: not_authorized']],
  ['free-plan', ['warning session: paid_teams_only', 'warning user groups: paid_teams_only']],
  ['no-streams', ['warning stream: feature_not_enabled']],
  ['tables-as-text', ['warning tables: 2 of 2 tables came back as text']],
  ['entities-kept', ['failed links: https://example.com/?a=1&b=2 came back changed']],
  ['streams-in-pieces', ['warning one paragraph: one sentence in two calls became two blocks']],
  ['metadata-lost', ['failed marks: the metadata of a message did not come back']],
])(
  'a workspace with %j is found, with what it means for people and what to do',
  async (shortcoming, expected) => {
    const { environment } = await startWorkspace(shortcoming);
    const found = await differing(environment);
    expect(
      found.map(
        ({ status, check, message }) =>
          `${status} ${check.replace('live ', '')}: ${message.replace(/^[a-z ]+: (?=\w+$)/, '')}`,
      ),
    ).toEqual(expected);
    for (const { means, fix } of found)
      expect([means, fix]).toEqual([expect.any(String), expect.any(String)]);
  },
);

test('a table says what differs; what only shows less does not fail the check, and what breaks does', async () => {
  const { environment } = await startWorkspace('tables-as-text');
  const live = ['doctor', '--live', '#general', '--without-tools'];
  const { out } = await run(live, environment);
  expect(out).toMatch(/^WHAT +DIFFERS +FOR PEOPLE +WHAT TO DO$/m);
  expect(out).toMatch(/^tables +2 of 2 tables came back as text +people see bars and dashes/m);
  expect(out).toMatch(/^ok +live links: as expected$/m);
});

test('a card that Slack refuses is named with its kind and state, and fails the check', async () => {
  const { slack, environment } = await startWorkspace();
  slack.workspace.fail('blocks.validate', { kind: 'refuse', error: 'invalid_message' });
  const [refused] = await differing(environment);
  expect(refused).toMatchObject({ status: 'failed', check: 'live cards' });
  expect(refused?.message).toMatch(/^card of \w+, \w+, \w+: invalid_message$/);
});

test('where Slack limits the rate the check waits and goes on', async () => {
  const { slack, environment } = await startWorkspace();
  for (const method of ['chat.postMessage', 'chat.startStream', 'blocks.validate'])
    slack.workspace.rateLimit(method, { calls: 1, retryAfterSeconds: 1 });
  expect(await differing(environment)).toEqual([]);
  const limited = slack.workspace.calls.filter(({ status }) => status === 429);
  expect(limited).toHaveLength(3);
});

test('a channel that the bot is not in is one sentence, and nothing is posted', async () => {
  const { slack, environment } = await startWorkspace();
  const [only, ...others] = await differing(environment, '#nowhere');
  expect(others).toEqual([]);
  expect(only).toMatchObject({
    status: 'failed',
    message: 'nothing could be posted in #nowhere: channel_not_found',
  });
  expect(slack.workspace.state.messages).toEqual([]);
});
