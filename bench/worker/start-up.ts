import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';
import { CAST } from '../../playground/slack/default-cast.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { botEnvironment } from '../../playground/start/bot-environment.ts';
import { median } from '../quantiles.ts';
import type { Table } from '../table.ts';
import { builtFile } from './build-processes.ts';

/** What `main.ts` imports of its own, which is all the code that is there when the bot begins to do something. */
const IMPORTED = [
  'settings.js',
  'start-bot.js',
  'tools/manifest/parse.js',
  'tools/manifest/reload.js',
  'tools/secrets.js',
];

const MANIFEST = (module: string) => `
slack: { display_information: { name: Countersign } }
policies: { default: { approvers: [${CAST.alice}] } }
tools: { refund_order: { module: ${module}, approval: { policy: default } } }
`;

/** How long the compiled bot takes from its start until it is connected to Slack, beside a Node that does nothing. */
export async function measureStartUp(rounds: number): Promise<Table> {
  const main = builtFile('src/main.ts');
  const folder = mkdtempSync(join(dirname(main), 'start-up-'));
  const redis = await bringUpRedis({ env: { ...process.env, REDIS_URL: '' } });
  const slack = await startLocalSlack();
  const compiled = builtFile('bench/worker/effect-tool.ts');
  const typed = new URL('./effect-tool.ts', import.meta.url).pathname;
  const imports = IMPORTED.map(
    (file) => `import(${JSON.stringify(pathToFileURL(join(dirname(main), file)).href)})`,
  );
  const connect = (name: string, module: string) => {
    const manifest = join(folder, `${name}.yml`);
    writeFileSync(manifest, MANIFEST(module));
    const modelUrl = 'http://127.0.0.1:9/v1';
    const env = botEnvironment({ env: process.env, slack, redis, modelUrl, manifest, port: 0 });
    return () => timeToConnected(main, env);
  };
  const ways: Readonly<Record<string, () => Promise<number>>> = {
    'node -e 0': () => timeToEnd(['-e', '0']),
    'importing the modules of the bot': () =>
      timeToEnd(['--input-type=module', '-e', `await Promise.all([${imports.join(',')}]); process.exit(0);`]),
    'the bot, connected, its tools in JavaScript': connect('compiled', compiled),
    'the bot, connected, its tools in TypeScript': connect('typed', typed),
  };
  const times = new Map(Object.keys(ways).map((name): [string, number[]] => [name, []]));
  try {
    // The first round of all reads the files from the disk.
    for (let round = -1; round < rounds; round += 1) {
      for (const [name, way] of Object.entries(ways)) {
        const took = await way();
        if (round >= 0) times.get(name)?.push(took);
      }
    }
  } finally {
    await slack.stop();
    await redis.stop();
    rmSync(folder, { recursive: true });
  }
  const of = (name: string): number => median(times.get(name) ?? []);
  const bare = of('node -e 0');
  const importing = of('importing the modules of the bot') - bare;
  return {
    title: `From the start of the process to connected (median of ${rounds})`,
    columns: ['', 'ms', 'of node -e 0', 'of it importing modules'],
    rows: Object.keys(ways).map((name) => [
      name,
      of(name).toFixed(0),
      (of(name) / bare).toFixed(1),
      name.startsWith('the bot') ? `${((importing / of(name)) * 100).toFixed(0)} %` : '',
    ]),
  };
}

async function timeToEnd(parameters: readonly string[]): Promise<number> {
  const began = performance.now();
  const [code] = await once(spawn(process.execPath, [...parameters], { stdio: 'inherit' }), 'exit');
  if (code !== 0) throw new Error(`Node ended with ${code} and did nothing that could be timed.`);
  return performance.now() - began;
}

async function timeToConnected(main: string, env: NodeJS.ProcessEnv): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const connected = new Promise<number>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.includes('"connected to Slack"')) resolve(performance.now() - began);
    });
    ended.then(() => reject(new Error('The bot ended before it was connected.')), reject);
  });
  try {
    return await connected;
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
