import { execFileSync, spawn } from 'node:child_process';
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { pino } from 'pino';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { startBot } from '../../src/start-bot.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { installSuite, nodeForSuite, SUITE } from '../install.ts';
import { differencesOf } from './exceptions.ts';

export const REVISION = '2026-07-28';
const here = fileURLToPath(new URL('.', import.meta.url));
const MOST_TRIES = 3;
const KEY = 'k'.repeat(43);
const MANIFEST = `
slack: { display_information: { name: Conformance } }
agent: { instructions: None }
policies: { default: { approvers: [U0ALICE002] } }
tools:
  suite: { module: ./tools.ts, approval: never }
callers:
  suite:
    owner: U0REMI0001
    identity: { key: "\${SUITE_KEY}" }
    channel: C0GENERAL1
    tools: ["*"]
    limits: { pending: 1000, per_hour: 10000 }
`;

/** The result of one scenario. */
export interface DoorScenario {
  readonly scenario: string;
  readonly passed: number;
  readonly warnings: number;
  /** The ids of the checks that fail; the scenario itself if it ended without a result. */
  readonly failed: readonly string[];
}

export interface DoorOptions {
  /** The parts of names of which a scenario must have one; without any, all are run. */
  readonly only?: readonly string[];
  readonly isVerbose?: boolean;
  /** Hides `Host` and `Origin` from the door, so that the suite has something to notice. */
  readonly isLoosened?: boolean;
}

/** Runs the scenarios that the revision requires of a server, and those of the tasks extension, against the door of a real bot. */
export async function* runDoorScenarios({
  only = [],
  isVerbose = false,
  isLoosened = false,
}: DoorOptions = {}): AsyncGenerator<DoorScenario> {
  installSuite();
  const door = await startDoor(isLoosened);
  try {
    for (const scenario of listScenarios()) {
      if (only.length > 0 && !only.some((part) => scenario.includes(part))) continue;
      yield await runTimely(door.url, scenario, isVerbose);
    }
  } finally {
    await door.stop();
  }
}

/** Starts a bot with the tools of the suite, and a proxy that sends the key of its caller, which the suite cannot. */
async function startDoor(isLoosened: boolean): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const parsed = parseManifest(MANIFEST, { file: 'conformance.yml', environment: { SUITE_KEY: KEY } });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const redis = await bringUpRedis({});
  const slack = await startLocalSlack();
  const bot = await startBot({
    settings: {
      slack: { mode: 'socket', botToken: slack.botToken, appToken: slack.appToken, apiUrl: slack.apiUrl },
      model: { model: 'none', apiKey: 'none', baseURL: 'http://127.0.0.1:9', silenceMs: 1_000 },
      redis: { mode: 'single', urls: [redis.url] },
      manifest: 'conformance.yml',
      port: 0,
      publicUrl: 'http://localhost',
      callbackSecret: 'the callback secret of the suite, long enough',
      crashNoticeSeconds: 30,
      logLevel: 'silent',
    },
    manifest: parsed.manifest,
    folder: here,
    secrets: new Secrets(),
    logger: pino({ level: 'silent' }),
    prefix: `conformance-${process.pid}:`,
  });
  const hide = ({ host, origin, ...rest }: IncomingHttpHeaders) => ({ ...rest, host: 'localhost' });
  const proxy = createServer((incoming, outgoing) => {
    const { method, url: path } = incoming;
    const headers = isLoosened ? hide(incoming.headers) : incoming.headers;
    const sent = httpRequest(
      {
        host: '127.0.0.1',
        port: bot.port,
        method,
        path,
        headers: { ...headers, authorization: `Bearer ${KEY}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    sent.once('error', () => outgoing.destroy());
    outgoing.once('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`,
    async stop() {
      proxy.closeAllConnections();
      proxy.close();
      await bot.stop();
      await slack.stop();
      await redis.stop();
    },
  };
}

function listScenarios(): readonly string[] {
  const args = [SUITE, 'list', '--requirements', REVISION];
  const text = execFileSync(nodeForSuite(), args, { encoding: 'utf8' });
  const [, after = ''] = text.split('Server scenarios (test against a server):');
  const [server = '', rest = ''] = after.split('Client scenarios');
  const tasks = [...rest.matchAll(/^ {4}- (tasks-\S+) \[server\]$/gm)];
  return [...server.matchAll(/^ {2}- (\S+)$/gm), ...tasks].map(([, name = '']) => name);
}

/** Runs a scenario, and again if it differs from the list: some checks wait half a second, which a machine at work can miss. */
async function runTimely(url: string, scenario: string, isVerbose: boolean): Promise<DoorScenario> {
  for (let tries = 1; ; tries += 1) {
    const result = await runScenario(url, scenario, isVerbose);
    if (tries === MOST_TRIES || differencesOf(result).length === 0) return result;
  }
}

async function runScenario(url: string, scenario: string, isVerbose: boolean): Promise<DoorScenario> {
  const args = ['server', '--url', url, '--scenario', scenario, '--spec-version', REVISION, '--force'];
  const child = spawn(nodeForSuite(), [SUITE, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (isVerbose) console.log(output);
  const [, passed = '0', warnings = '0'] =
    /Passed: (\d+)\/\d+, \d+ failed, (\d+) warnings/.exec(output) ?? [];
  const lines = stripVTControlCharacters(output);
  const failed = [...lines.matchAll(/\[(\S+)\s*\] FAILURE/g)].map(([, id = '']) => id);
  // A scenario that was skipped ends with 0 as well.
  const hasEnded = passed !== '0' || failed.length > 0;
  const isWhole = hasEnded && (code === 0) === (failed.length === 0);
  return {
    scenario,
    passed: Number(passed),
    warnings: Number(warnings),
    failed: isWhole ? failed : [...failed, scenario],
  };
}
