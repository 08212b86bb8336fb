import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import type { InteractionOutcome } from '../../playground/slack/delivery/delivery.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/agent/json.ts';
import { count, type Given, newTally, type Suite, type Tally } from '../suite.ts';
import { startWholeBot, type WholeBot } from '../whole-bot.ts';
import { makeBoltPayloads, type RecordedPayload, readPayloads } from './read-payloads.ts';

const HOLE = 'the bot ends after the third payload';
const HERE = 'Still here.';

function payloadSuite(
  given: Given,
  source: string,
  read: (folder: string) => Promise<readonly RecordedPayload[]>,
): Suite {
  const [repository] = source.split(' ');
  return {
    name: `Slack payloads of ${repository}, over HTTP and sockets`,
    source,
    hole: HOLE,
    given,
    run: async ({ isLoosened, folder }) => sendAll(await read(folder), isLoosened),
  };
}

export const boltPayloads = payloadSuite('bolt-js', 'slackapi/bolt-js at 9a45c3c9a390', async (folder) => [
  ...readPayloads(folder),
  ...(await makeBoltPayloads(folder)),
]);
export const javaPayloads = payloadSuite(
  'java-slack-sdk',
  'slackapi/java-slack-sdk at 86ff7ca9915e',
  async (folder) => readPayloads(folder),
);
export const chatPayloads = payloadSuite('vercel-chat', 'vercel/chat at c4f709fe938f', async (folder) =>
  readPayloads(folder),
);

/**
 * Sends each payload as it is, and as if it were of this workspace, by either way. It passes if the bot acknowledges all of them, and answers
 * the next person when all were sent.
 */
async function sendAll(payloads: readonly RecordedPayload[], isLoosened: boolean): Promise<Tally> {
  const tally = newTally();
  const wrong = payloads.map((): string[] => []);
  for (const mode of ['http', 'socket'] as const) {
    const whole = await startWholeBot({
      mode,
      manifest: {
        slack: { display_information: { name: 'Countersign' } },
        agent: { instructions: 'Help.' },
        policies: { default: { approvers: [CAST.alice] } },
      },
      replies: () => ({ text: HERE }),
    });
    try {
      for (const [row, recorded] of payloads.entries()) {
        if (isLoosened && row === 3) await whole.bot.stop();
        if (isLoosened && row > 5) break;
        wrong[row]?.push(...(await send(whole, recorded)).map((problem) => `${mode}: ${problem}`));
      }
      if (!isLoosened && !(await answers(whole))) wrong[0]?.push(`${mode}: the bot does not answer any more`);
    } finally {
      await whole.stop();
    }
  }
  for (const [row, { name, payload }] of payloads.entries())
    count(tally, `${name}, ${String(payload.type ?? payload.command)}`, wrong[row] ?? []);
  return tally;
}

async function send({ workspace }: WholeBot, { type, payload }: RecordedPayload): Promise<string[]> {
  const { state } = workspace;
  const ours: Readonly<Record<string, string>> = {
    team: state.team.id,
    team_id: state.team.id,
    user: CAST.requester,
    user_id: CAST.requester,
    channel: CHANNELS.general,
    channel_id: CHANNELS.general,
    api_app_id: state.app.id,
  };
  const problems: string[] = [];
  const adapted = adapt(payload, ours);
  // The same bytes twice would be a replay, which is refused.
  const isSame = JSON.stringify(adapted) === JSON.stringify(payload);
  for (const [what, sent] of [
    ['as it is', payload] as const,
    ...(isSame ? [] : [['of this workspace', adapted] as const]),
  ]) {
    const outcome = await workspace.deliver(type, isJsonObject(sent) ? sent : {});
    if (outcome.kind === 'failed') problems.push(`${what}: ${describe(workspace, outcome)}`);
  }
  return problems;
}

function describe(workspace: WholeBot['workspace'], outcome: InteractionOutcome): string {
  const { status } = workspace.deliveries.at(-1)?.attempts.at(-1) ?? {};
  return outcome.kind === 'failed' ? `${outcome.reason}${status === undefined ? '' : ` ${status}`}` : '';
}

/** Replaces the names of another workspace by those of this one, as text or as the id of an object. */
function adapt(value: JsonValue, ours: Readonly<Record<string, string>>): JsonValue {
  if (Array.isArray(value)) return value.map((each) => adapt(each, ours));
  if (!isJsonObject(value)) return value;
  const changed: Record<string, JsonValue> = {};
  for (const [key, each] of Object.entries(value)) {
    const own = ours[key];
    if (each === undefined) continue;
    if (own === undefined) changed[key] = adapt(each, ours);
    else if (isJsonObject(each)) changed[key] = { ...(adapt(each, ours) as JsonObject), id: own };
    else changed[key] = own;
  }
  return changed;
}

async function answers({ workspace }: WholeBot): Promise<boolean> {
  const { ts } = workspace
    .as(CAST.alice)
    .send(CHANNELS.general, `<@${workspace.state.app.botUserId}> are you there?`);
  return workspace
    .until(() => workspace.messagesIn(CHANNELS.general, ts).some(({ text }) => text.includes(HERE)), {
      what: 'an answer',
      timeoutMs: 30_000,
    })
    .catch(() => false);
}
