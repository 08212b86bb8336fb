import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { appFromManifest } from '../../playground/slack/app-from-manifest.ts';
import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import { SHIPPED_SLACK } from '../../src/tools/manifest/schema/slack.ts';
import { startPrivateRedis } from '../store/private-redis.ts';
import { readDocuments, readText } from './files.ts';
import { type Image, playDockerfile } from './play-dockerfile.ts';

/** The user of the image, and one as systemd makes it for a dynamic user. */
const NODE_USER = 1000;
const DYNAMIC_USER = 61_184;

let below = '';
let image: Image;
beforeAll(() => {
  below = mkdtempSync(join(tmpdir(), 'countersign-deploy-'));
  image = playDockerfile('deploy/Dockerfile', below);
  chmodSync(below, 0o755);
});
afterAll(() => rmSync(below, { recursive: true, force: true }));

/** Makes the folder of an admin: a manifest with a module tool, its lock file, an audit file and a key. */
function makeConfig(): string {
  const folder = mkdtempSync(join(below, 'config-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'tools'));
  writeFileSync(
    join(folder, 'manifest.yml'),
    `agent: { admins: [${CAST.admin}] }
policies:
  default: { approvers: [${CAST.alice}] }
tools:
  greet: { module: ./tools/greet.mts }
audit: { file: ./audit.jsonl }
`,
  );
  writeFileSync(
    join(folder, 'tools/greet.mts'),
    `import { defineTool } from 'countersign';
import { z } from 'zod';
export const greet = defineTool(
  { name: 'greet', description: 'Greets.', inputSchema: z.object({ name: z.string() }) },
  async ({ name }) => \`Hello, \${name}\`,
);
`,
  );
  writeFileSync(join(folder, 'manifest.lock.json'), '{ "version": 1, "servers": {} }\n');
  writeFileSync(join(folder, 'audit-key.pem'), createKeyPair().privatePem);
  return folder;
}

interface Deployment {
  readonly user: number;
  readonly folder: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Folders of the host by the place where they appear; all but those in `writable` are read-only. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly writable: readonly string[];
  /** Places that are empty and writable at the start. */
  readonly empty: readonly string[];
}

const HOST = ['usr', 'lib', 'lib64', 'bin', 'sbin', 'proc', 'dev'];
const HOST_FILES = ['hosts', 'nsswitch.conf', 'resolv.conf', 'ld.so.cache'];
const IS_ROOT = process.getuid?.() === 0;

/** Writes the shell script that runs a command as a container does: in a root that nobody can write to, as a user without rights. */
function sealed(root: string, { user, folder, command, environment, mounts, writable, empty }: Deployment) {
  const bind = (from: string, to: string) =>
    `mkdir -p '${root}${to}' && mount --rbind '${from}' '${root}${to}'`;
  const words = [
    ...(IS_ROOT ? [`--userspec=${user}:${user}`, '--groups='] : []),
    ...[root, '/usr/bin/env', '-i', '-C', folder],
    ...Object.entries({ ...environment, PATH: '/node:/usr/bin:/bin' }).map(
      ([name, value]) => `${name}=${value}`,
    ),
    ...command,
  ];
  return [
    'set -e',
    `mount --bind '${root}' '${root}'`,
    `mkdir -p '${root}/etc'`,
    ...HOST_FILES.filter((name) => existsSync(`/etc/${name}`)).map(
      (name) => `cp -L /etc/${name} '${root}/etc/'`,
    ),
    ...HOST.filter((name) => existsSync(`/${name}`)).map((name) => bind(`/${name}`, `/${name}`)),
    bind(dirname(process.execPath), '/node'),
    ...Object.entries(mounts).map(([to, from]) => bind(from, to)),
    ...empty.map((to) => `mkdir -p '${root}${to}' && mount -t tmpfs -o mode=1777 none '${root}${to}'`),
    `mount -o remount,ro,bind '${root}'`,
    ...Object.keys(mounts)
      .filter((to) => !writable.includes(to))
      .map((to) => `mount -o remount,ro,bind '${root}${to}'`),
    `exec chroot ${words.map((word) => `'${word}'`).join(' ')}`,
  ].join('\n');
}

const NAMESPACE = IS_ROOT ? ['-m'] : ['-Urm'];

/** A Slack, a model and a Redis, with the settings that lead there. */
async function surroundings() {
  const redis = await startPrivateRedis(({ port, folder }) => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no', '--save', ''],
    ...['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'],
  ]);
  onTestFinished(() => redis.stop());
  const slack = await startLocalSlack({ app: appFromManifest(SHIPPED_SLACK) });
  onTestFinished(() => slack.stop());
  const greet = { name: 'greet', arguments: { name: 'Ada' } };
  const model = await startLocalModel({ script: [{ calls: [greet] }, { text: 'Greeted.' }] });
  onTestFinished(() => model.stop());
  const port = await findFreePort();
  const settings = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'scripted',
    OPENAI_BASE_URL: model.url,
    OPENAI_MODEL: 'scripted',
  };
  return { workspace: slack.workspace, port, settings, here: { REDIS_URL: redis.url, PORT: String(port) } };
}

interface Extras {
  /** How a command is run beside the bot, if not as the bot is. */
  readonly beside?: Deployment;
  /** Something to do before the bot is stopped; it gets the log. */
  readonly whileItRuns?: (log: Readable) => Promise<void>;
}

type Surroundings = Awaited<ReturnType<typeof surroundings>>;

/** The command line in the image. */
const CLI = ['node', 'dist/bin/cli.js'] as const;

/** Runs a command beside the bot: it sees what the bot sees, and its words are returned. Slack answers the bot meanwhile. */
async function runBeside(root: string, deployment: Deployment): Promise<string> {
  const { stdout } = await promisify(execFile)('unshare', [
    ...[...NAMESPACE, 'sh', '-c'],
    sealed(root, deployment),
  ]);
  return stdout;
}

/** Starts a deployment, has an action approved, stops it, and checks that it was ready and has exported the audit log. */
async function play(
  root: string,
  deployment: Deployment,
  auditFile: string,
  around: Surroundings,
  { beside = deployment, whileItRuns = async () => {} }: Extras = {},
) {
  const { workspace, port } = around;
  const child = spawn('unshare', [...NAMESPACE, 'sh', '-c', sealed(root, deployment)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = once(child, 'exit');
  let isConnected = false;
  for await (const line of createInterface(child.stdout)) {
    isConnected = line.includes('connected to Slack');
    if (isConnected) break;
  }
  if (!isConnected) throw new Error(`It ended before it was connected:\n${errors}`);
  child.stdout.resume();

  const ready = await fetch(`http://127.0.0.1:${port}/ready`);
  expect(await ready.json()).toEqual({ ok: true, slack: true, redis: true, writes: true });
  const mention = `<@${workspace.state.app.botUserId}> greet Ada`;
  const { ts } = workspace.as(CAST.requester).send(CHANNELS.general, mention);
  const shows = (words: RegExp) =>
    workspace.until(
      () =>
        workspace
          .messagesIn(CHANNELS.general, ts)
          .find(({ text, blocks }) => words.test(`${text}${JSON.stringify(blocks ?? [])}`)),
      { what: String(words) },
    );
  const card = await shows(/Ada[\s\S]*approve/);
  const command = (...words: readonly string[]) =>
    runBeside(root, { ...beside, command: [...(beside === deployment ? CLI : beside.command), ...words] });
  expect(await command('pending')).toMatch(/greet.*Ada/i);
  expect(await command('freeze', '--reason', 'a test')).toMatch(/frozen|Frozen|Froze/);
  expect(await command('unfreeze', '--reason', 'a test')).not.toBe('');
  expect(await command('audit')).toMatch(/asked/);
  await workspace.as(CAST.alice).click({ channel: CHANNELS.general, ts: card.ts }, 'approve');
  await shows(/Greeted\./);
  await whileItRuns(child.stdout);
  child.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
  expect(readFileSync(auditFile, 'utf8')).toMatch(/"event":"succeeded"[\s\S]*"type":"checkpoint"/);
}

/** Makes a volume, with the rights that the image gives it. */
function makeVolume(): string {
  const volume = mkdtempSync(join(below, 'volume-'));
  chmodSync(volume, 0o1777);
  return volume;
}

/** Lets the user of a container read a file that only its owner reads. */
function letRead(file: string): void {
  chmodSync(file, 0o644);
}

/** A ConfigMap as the kubelet mounts it: links to a folder of the present version, which is replaced in one step. */
function mountedMap(from: string, names: readonly string[]) {
  const folder = makeVolume();
  let version = 0;
  const update = () => {
    version += 1;
    const own = `..version-${version}`;
    mkdirSync(join(folder, own));
    for (const name of names) copyFileSync(join(from, name), join(folder, own, name));
    symlinkSync(own, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  update();
  for (const name of names) symlinkSync(`..data/${name}`, join(folder, name));
  return { folder, update };
}

/** Resolves when each message was logged. */
async function untilLogged(log: Readable, messages: readonly string[]): Promise<void> {
  const missing = new Set(messages);
  for await (const line of createInterface(log)) {
    for (const message of missing) if (line.includes(message)) missing.delete(message);
    if (missing.size === 0) return;
  }
  throw new Error(`It was never logged: ${[...missing].join(', ')}`);
}

const Mount = z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() });

test('compose: the bot starts with a module tool, a lock file and an audit file, and its root cannot be written', async () => {
  const config = makeConfig();
  letRead(join(config, 'audit-key.pem'));
  const { bot } = z
    .object({
      services: z.object({
        bot: z.object({
          environment: z.record(z.string(), z.string()),
          volumes: z.array(z.string()),
          tmpfs: z.array(z.string()),
          read_only: z.literal(true),
        }),
      }),
    })
    .parse(readDocuments('deploy/compose.yml')[0]).services;
  const audit = makeVolume();
  const mounts = bot.volumes.map((volume) => {
    const [from = '', to = '', mode] = volume.replace(/\$\{CONFIG[^}]*\}/, config).split(':');
    return { from: from === 'audit' ? audit : from, to, isReadOnly: mode === 'ro' };
  });
  const around = await surroundings();
  await play(
    image.root,
    {
      user: NODE_USER,
      folder: image.folder.slice(image.root.length),
      command: image.command,
      environment: { ...image.environment, ...around.settings, ...bot.environment, ...around.here },
      mounts: Object.fromEntries(mounts.map(({ from, to }) => [to, from])),
      writable: mounts.flatMap(({ to, isReadOnly }) => (isReadOnly ? [] : [to])),
      empty: bot.tmpfs,
    },
    join(audit, 'audit.jsonl'),
    around,
  );
});

test('Kubernetes: a pod starts with its ConfigMaps as a module tool, a lock file and an audit file, and follows a new version of them', async () => {
  const Container = z.object({
    command: z.array(z.string()).optional(),
    env: z.array(z.object({ name: z.string(), value: z.string().optional() })).default([]),
    volumeMounts: z.array(Mount),
  });
  const { spec } = z
    .object({
      spec: z.object({
        template: z.object({
          spec: z.object({
            securityContext: z.object({ runAsUser: z.number() }),
            containers: z.tuple([Container]),
            volumes: z.array(
              z.object({ name: z.string(), configMap: z.object({ name: z.string() }).optional() }),
            ),
          }),
        }),
      }),
    })
    .parse(readDocuments('deploy/kubernetes/bot.yml')[0]).spec.template;
  const config = makeConfig();
  const tools = join(config, 'tools');
  // The files that the commands at the top of the file take.
  const files = {
    'countersign-config': ['manifest.yml', 'manifest.lock.json'],
    'countersign-tools': readdirSync(tools),
  };
  for (const name of files['countersign-config'])
    expect(readText('deploy/kubernetes/bot.yml')).toContain(`--from-file=${name}`);
  expect(readText('deploy/kubernetes/bot.yml')).toContain('configmap countersign-tools --from-file=tools ');
  const maps = new Map([
    ['countersign-config', mountedMap(config, files['countersign-config'])],
    ['countersign-tools', mountedMap(tools, files['countersign-tools'])],
  ]);
  // The kubelet makes the folder of a mount inside another one.
  mkdirSync(join(maps.get('countersign-config')?.folder ?? '', 'tools'));
  const volumes = new Map(
    ['state', ...spec.volumes.map(({ name }) => name)].map((name) => {
      const map = spec.volumes.find((volume) => volume.name === name)?.configMap;
      return [name, map === undefined ? makeVolume() : (maps.get(map.name)?.folder ?? '')];
    }),
  );
  const placed = ({ volumeMounts }: z.infer<typeof Container>) => ({
    mounts: Object.fromEntries(
      volumeMounts.map(({ name, mountPath }) => [mountPath, volumes.get(name) ?? '']),
    ),
    writable: volumeMounts.flatMap(({ mountPath, readOnly }) => (readOnly === true ? [] : [mountPath])),
    empty: [],
  });
  const user = spec.securityContext.runAsUser;
  const [bot] = spec.containers;
  const folder = image.folder.slice(image.root.length);
  const around = await surroundings();
  const given = Object.fromEntries(
    bot.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  );
  await play(
    image.root,
    {
      ...{ user, folder, command: image.command, ...placed(bot) },
      environment: {
        ...image.environment,
        ...around.settings,
        AUDIT_KEY: readFileSync(join(config, 'audit-key.pem'), 'utf8').replaceAll('\n', '\\n'),
        ...given,
        ...around.here,
      },
    },
    join(volumes.get('audit') ?? '', 'audit.jsonl'),
    around,
    {
      async whileItRuns(log) {
        const [manifest, module] = [join(config, 'manifest.yml'), join(tools, 'greet.mts')];
        writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('tools:\n', 'limits: {}\ntools:\n'));
        maps.get('countersign-config')?.update();
        await untilLogged(log, ['manifest reloaded']);
        writeFileSync(module, readFileSync(module, 'utf8').replace('Hello', 'Good morning'));
        maps.get('countersign-tools')?.update();
        await untilLogged(log, ['module reloaded']);
      },
    },
  );
});

test('systemd: the unit starts the bot in a read-only system with a module tool, a lock file and an audit file', async () => {
  const unit = readText('deploy/countersign.service');
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  expect([value('ProtectSystem'), value('PrivateTmp'), value('DynamicUser')]).toEqual([
    'strict',
    'yes',
    'yes',
  ]);
  const config = makeConfig();
  // What "npm install" leaves in the folder.
  mkdirSync(join(config, 'node_modules'));
  symlinkSync('/opt/countersign', join(config, 'node_modules/countersign'));
  symlinkSync('/opt/countersign/node_modules/zod', join(config, 'node_modules/zod'));
  const root = mkdtempSync(join(below, 'system-'));
  chmodSync(root, 0o755);
  const credentials = makeVolume();
  const [credential = '', source = ''] = value('LoadCredential').split(':');
  copyFileSync(source.replace('/etc/countersign', config), join(credentials, credential));
  letRead(join(credentials, credential));
  const state = makeVolume();
  const environment = Object.fromEntries(
    [...unit.matchAll(/^Environment=([A-Z_]+)=(.*)$/gm)].map(([, name = '', text = '']) => [
      name,
      text.replace('%d', '/run/credentials'),
    ]),
  );
  const around = await surroundings();
  writeFileSync(
    join(config, 'countersign.env'),
    Object.entries({ ...around.settings, ...around.here })
      .map(([name, text]) => `${name}=${text}\n`)
      .join(''),
    { mode: 0o600 },
  );
  const deployment: Deployment = {
    user: DYNAMIC_USER,
    folder: value('WorkingDirectory'),
    command: value('ExecStart').replace('/usr/bin/node', 'node').split(' '),
    environment: { ...environment, ...around.settings, ...around.here },
    mounts: {
      '/opt/countersign': image.folder,
      '/etc/countersign': config,
      '/run/credentials': credentials,
      [`/var/lib/${value('StateDirectory')}`]: state,
    },
    writable: [`/var/lib/${value('StateDirectory')}`],
    empty: ['/tmp'],
  };
  // As root, with nothing but what the command finds by itself.
  const command = ['node', '/opt/countersign/dist/bin/cli.js'];
  const beside = { ...deployment, user: 0, folder: '/', environment: {}, command };
  await play(root, deployment, join(state, 'audit.jsonl'), around, { beside });
});
