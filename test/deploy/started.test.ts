import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
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

/** Runs a command of a deployment to its end. */
function runSealed(root: string, deployment: Deployment): void {
  execFileSync('unshare', [...NAMESPACE, 'sh', '-c', sealed(root, deployment)], { stdio: 'pipe' });
}

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

type Surroundings = Awaited<ReturnType<typeof surroundings>>;

/** Starts a deployment, has an action approved, stops it, and checks that it was ready and has exported the audit log. */
async function play(root: string, deployment: Deployment, auditFile: string, around: Surroundings) {
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
  await workspace.as(CAST.alice).click({ channel: CHANNELS.general, ts: card.ts }, 'approve');
  await shows(/Greeted\./);
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

test('Kubernetes: a pod unpacks its ConfigMap and starts with a module tool, a lock file and an audit file', async () => {
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
            initContainers: z.tuple([Container]),
            containers: z.tuple([Container]),
            volumes: z.array(z.looseObject({ name: z.string(), emptyDir: z.unknown().optional() })),
          }),
        }),
      }),
    })
    .parse(readDocuments('deploy/kubernetes/bot.yml')[0]).spec.template;
  const config = makeConfig();
  const packed = makeVolume();
  // The command at the top of the file, up to kubectl.
  const [, pack = ''] = /^# (tar cz .*?) \| kubectl/m.exec(readText('deploy/kubernetes/bot.yml')) ?? [];
  writeFileSync(join(packed, 'config.tgz'), execFileSync('sh', ['-c', pack], { cwd: config }));
  const volumes = new Map(spec.volumes.map(({ name }) => [name, name === 'packed' ? packed : makeVolume()]));
  const placed = ({ volumeMounts }: z.infer<typeof Container>) => ({
    mounts: Object.fromEntries(
      volumeMounts.map(({ name, mountPath }) => [mountPath, volumes.get(name) ?? '']),
    ),
    writable: volumeMounts.flatMap(({ mountPath, readOnly }) => (readOnly === true ? [] : [mountPath])),
    empty: [],
  });
  const user = spec.securityContext.runAsUser;
  const [unpack] = spec.initContainers;
  const [bot] = spec.containers;
  const folder = image.folder.slice(image.root.length);
  runSealed(image.root, { user, folder, command: unpack.command ?? [], environment: {}, ...placed(unpack) });
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
  await play(
    root,
    {
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
    },
    join(state, 'audit.jsonl'),
    around,
  );
});
