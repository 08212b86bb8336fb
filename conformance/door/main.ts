import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { startBot } from '../../src/start-bot.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { replaceTable } from '../docs-table.ts';

/** Runs the server scenarios of the public conformance suite against the door of a real bot, one at a time. */
const here = fileURLToPath(new URL('.', import.meta.url));
const folder = join(here, '..');
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

if (!existsSync(join(folder, 'node_modules')))
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
const suite = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const [major = '0'] = process.versions.node.split('.');
const node =
  Number(major) >= 22
    ? process.execPath
    : join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);

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

// The suite cannot send a key, so that this does; everything else passes as it is.
const proxy = createServer((incoming, outgoing) => {
  const { method, url: path, headers } = incoming;
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
const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;

const REVISION = '2026-07-28';
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^(resources|sep-2164)/, 'the door has no resources'],
  [/^prompts/, 'the door has no prompts'],
  [/^completion/, 'the door has no completion'],
  [/^(input-required|tasks-mrtr)/, 'people answer in Slack; the door asks its clients for no input'],
  [/^tools-call-(image|audio|embedded|mixed)/, 'results of the door are text'],
  [/^caching/, 'only the checks of resources and prompts fail'],
  [/^tasks-required/, 'no tool requires tasks: a client without them waits'],
  [/^tools-call-with-progress/, 'the tool that it calls is not there'],
  [/^tasks/, 'not all of the tools that it calls are there: some ask for input or break the protocol'],
];
const lines: string[] = [];
for (const scenario of listScenarios()) {
  if (only.length > 0 && !only.some((part) => scenario.includes(part))) continue;
  const result = await run(scenario);
  console.log(`${result}  ${scenario}`);
  lines.push(`| ${[scenario, result, reasonFor(scenario, result)].join(' | ')} |`);
}
if (process.argv.includes('--write'))
  replaceTable('door', [`| scenario | ${REVISION} | reason |`, '| --- | --- | --- |', ...lines]);
proxy.closeAllConnections();
proxy.close();
await bot.stop();
await slack.stop();
await redis.stop();
process.exit(0);

/** Lists the scenarios that the revision requires of a server, and those of the tasks extension. */
function listScenarios(): readonly string[] {
  const text = execFileSync(node, [suite, 'list', '--requirements', REVISION], { encoding: 'utf8' });
  const [, after = ''] = text.split('Server scenarios (test against a server):');
  const [server = '', rest = ''] = after.split('Client scenarios');
  const tasks = [...rest.matchAll(/^ {4}- (tasks-\S+) \[server\]$/gm)];
  return [...server.matchAll(/^ {2}- (\S+)$/gm), ...tasks].map(([, name = '']) => name);
}

/** Runs one scenario, and says how many of its checks pass. */
async function run(scenario: string): Promise<string> {
  const args = [suite, 'server', '--url', url, '--scenario', scenario, '--spec-version', REVISION, '--force'];
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (process.argv.includes('--verbose')) console.log(output);
  // A scenario that was skipped ends with 0 as well.
  const summary = /Passed: (\d+)\/(\d+), \d+ failed, (\d+) warnings/.exec(output);
  if (summary === null) return 'did not run';
  const [, passed, all, warnings] = summary;
  if (code !== 0) return `${passed} of ${all} checks`;
  return warnings === '0' ? 'passes' : `passes, with ${warnings} warnings`;
}

/** Says why a scenario does not pass: most are about what the door does not offer. */
function reasonFor(scenario: string, result: string): string {
  if (result.startsWith('passes')) return '';
  return REASONS.find(([pattern]) => pattern.test(scenario))?.[1] ?? 'not looked into';
}
