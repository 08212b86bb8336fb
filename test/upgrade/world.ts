import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ReplyFunction } from '../../playground/model/model-reply.ts';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import { CountersignClient } from '../../src/client.ts';
import { DORA, slack } from '../stories/delegating.ts';
import { MORTAL } from '../stories/doomed-bot.ts';
import { CAST, PLACES, startStory } from '../stories/support.ts';
import { withBuiltTools } from '../support/build-module.ts';
import type { Release } from './releases.ts';

const { alice, bruno, admin, requester } = CAST;
const KEY = `pipeline${'k'.repeat(40)}`;
const HOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const ENVIRONMENT = { PIPELINE_KEY: KEY, HOOK_SECRET };

const Message = z.object({ type: z.string(), data: z.object({ id: z.string(), status: z.string() }) });

const manifestFor = (hook: number) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${admin}], limits: { pending_per_thread: 20, pending_per_person: 200 } }
policies:
  default: { approvers: [${alice}, ${bruno}], resolvers: [${admin}], notify: { direct_messages: false } }
  two: { approvers: [${alice}, ${bruno}], quorum: 2, notify: { direct_messages: false } }
  granting: { approvers: [${alice}], grants: { for: 2h, uses: 3 }, notify: { direct_messages: false } }
  away: { approvers: [${alice}], delegation: true, notify: { direct_messages: false } }
  directly: { approvers: [${bruno}], notify: { direct_messages: true } }
  alone: { approvers: [${alice}], risk: high, confirm: false, notify: { direct_messages: false } }
tools:
  workshop:
    module: ./test/stories/fixtures/workshop-tools.ts
    reversible: yes
    approval:
      - { match: engrave_part, policy: two }
      - { match: drill_part, policy: granting }
      - { match: coat_part, policy: away }
      - { match: paint_part, policy: alone }
      - { match: polish_part, policy: directly }
      - { match: "*", policy: default }
callers:
  release-pipeline:
    owner: ${requester}
    identity: { key: "\${PIPELINE_KEY}" }
    channel: ${PLACES.general}
    tools: [press_part]
    ask: [default]
    limits: { pending: 50, per_hour: 200 }
    webhook: { url: "http://127.0.0.1:${hook}/hook", secret: "\${HOOK_SECRET}", allow_private: ["127.0.0.1"] }
`;

/** The model does what it is told: "tool /folder", "plan_parts /folder /folder /folder", or "ask_question". */
const obey: ReplyFunction = ({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return { text: 'All ended.' };
  const said = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content);
  const [, name = '', rest = ''] = /\b([a-z]+_[a-z]+)((?: \/[\w/-]+)*)/.exec(said) ?? [];
  const [first = '', second = '', third = ''] = rest.trim().split(' ');
  const step = (tool: string, folder: string) => ({ tool, input: { folder } });
  if (name === 'ask_question')
    return { calls: [{ name, arguments: { question: 'Which one?', choices: ['Red', 'Blue'] } }] };
  if (name !== 'plan_parts') return { calls: [{ name, arguments: { folder: first } }] };
  const steps = [step('press_part', first), step('paint_part', second), step('press_part', third)];
  return { calls: [{ name: 'propose_plan', arguments: { goal: 'Make the parts', steps } }] };
};

/** The address of a caller that takes nothing about its runs until it is told to, and keeps what it took. */
async function startReceiver() {
  const state = { takes: false, taken: new Set<string>(), refused: 0 };
  const server = createServer(async (request, response) => {
    const { type, data } = Message.parse(JSON.parse(await text(request)));
    const isTaken = state.takes || type !== 'run.updated';
    if (isTaken) state.taken.add(`${data.id} ${data.status}`);
    else state.refused += 1;
    response.writeHead(isTaken ? 204 : 500).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return { state, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

/** A Slack, a model, a Redis and a caller, for bots of several releases on one record. */
export async function startWorld() {
  const hook = await startReceiver();
  const manifest = await withBuiltTools(manifestFor(hook.port));
  const story = await startStory({
    manifest,
    environment: ENVIRONMENT,
    replies: obey,
    withoutBot: true,
    slack: { ...slack, app: { commands: ['/countersign'] } },
  });
  const { privatePem, publicPem } = createKeyPair();
  const { folder, prefix, settings } = story.setup;

  /** Starts a bot of a release, on the Redis of all tests or another; `kill` ends it as a power cut would. */
  const start = async ({ name, modules }: Release, redisUrl = inject('redisUrl')) => {
    const redis = { mode: 'single', urls: [redisUrl] };
    const given = JSON.stringify({
      settings: { ...settings, auditKey: { text: privatePem }, redis },
      ...{ manifest, environment: ENVIRONMENT, folder, prefix },
      ...{ timing: MORTAL, sweep: { everyMs: 100, overdueMs: 0 } },
    });
    const script = fileURLToPath(new URL('./release-process.mjs', import.meta.url));
    const child = spawn(process.execPath, [script, modules, given], { stdio: ['ignore', 'pipe', 'inherit'] });
    const gone = once(child, 'exit');
    const kill = async () => {
      child.kill('SIGKILL');
      await gone;
    };
    onTestFinished(kill);
    for await (const line of createInterface(child.stdout)) {
      const port = /^listening (\d+)$/.exec(line)?.[1];
      if (port === undefined) continue;
      const url = `http://127.0.0.1:${port}`;
      const headers = { authorization: `Bearer ${KEY}` };
      const startAsk = async (id: string) =>
        (await fetch(`${url}/v1/asks/${id}/start`, { method: 'POST', headers })).status;
      return { name, kill, startAsk, client: new CountersignClient({ url, key: KEY }) };
    }
    throw new Error(`the ${name} release ended at once`);
  };
  return { ...story, hook: hook.state, publicPem, start, dora: DORA };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
export type Running = Awaited<ReturnType<World['start']>>;
