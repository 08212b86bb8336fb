import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { UNIT } from '../../src/load-environment.ts';
import { Environment, readSettings } from '../../src/settings.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { ROOT, readDockerfile, readDocuments, readText, SETTINGS, Words } from './files.ts';

const PORT = '3000';
/** The waits of a stop, one after another: HTTP requests, running work, Slack's status, the audit export, the traces. */
const STOP_SECONDS = 10 + 20 + 2 + 5 + 5;
/** The password of Redis as compose takes it from the environment, and refuses to start without it. */
const GIVEN = ['$', '{REDIS_PASSWORD:?set it in .env}'].join('');
const MAIN = 'dist/bin/main.js';
/** The flags of Node with which every shipped way starts the bot. */
const FLAGS = ['--max-semi-space-size=4'];

const { scripts, engines } = z
  .object({ scripts: z.record(z.string(), z.string()), engines: z.object({ node: z.string() }) })
  .parse(JSON.parse(readText('package.json')));

test('the port and the program of the files are those of the settings and of npm start', () => {
  const read = readSettings({
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_APP_TOKEN: 'xapp-1',
    OPENAI_API_KEY: 'key',
    REDIS_URL: 'redis://redis:6379',
  });
  expect(read).toMatchObject({ ok: true, settings: { port: Number(PORT) } });
  expect(scripts.start).toBe(['node', ...FLAGS, MAIN].join(' '));
});

describe('the image', () => {
  const instructions = readDockerfile('deploy/Dockerfile');
  const last = instructions.filter(({ stage }) => stage === instructions.at(-1)?.stage);
  const valuesOf = (name: string) => last.filter((each) => each.name === name).map(({ value }) => value);

  test('runs the bot as a user without rights, on its port, with a health check that its server answers', () => {
    expect(valuesOf('USER')).toEqual(['node']);
    expect(valuesOf('EXPOSE')).toEqual([PORT]);
    expect(Words.parse(JSON.parse(valuesOf('CMD')[0] ?? ''))).toEqual(['node', ...FLAGS, MAIN]);
    expect(valuesOf('HEALTHCHECK')[0]).toContain('/health');
    expect(readText('src/http/probes.ts')).toContain("path: '/health'");
    for (const [name] of nonEmpty(valuesOf('ENV').map((value) => value.split('='))))
      expect([...SETTINGS, 'NODE_ENV']).toContain(name);
  });

  test('is built in stages, from a version of Node that the package supports', () => {
    const versions = instructions.filter(({ name }) => name === 'FROM').map(({ value }) => value);
    expect(versions.length).toBeGreaterThan(1);
    for (const version of nonEmpty(versions)) expect(version).toMatch(/^node:24-/);
    expect(engines.node).toBe('>=20.19');
  });

  test('copies only files that exist and that .dockerignore lets through', () => {
    const ignore = readText('.dockerignore').split('\n');
    expect(ignore[0]).toBe('*');
    const copied = instructions
      .filter(({ name, value }) => name === 'COPY' && !value.startsWith('--from='))
      .flatMap(({ value }) => value.split(/\s+/).slice(0, -1));
    expect(copied.length).toBeGreaterThan(0);
    for (const path of nonEmpty(copied)) {
      expect(existsSync(`${ROOT}/${path}`), path).toBe(true);
      expect(ignore, path).toContain(`!${path}`);
    }
  });
});

describe('the compose file', () => {
  const Compose = z.object({
    services: z.object({
      bot: z.object({
        build: z.object({ dockerfile: z.string() }),
        deploy: z.object({ replicas: z.number() }),
        environment: z.record(z.string(), z.string()),
        expose: z.array(z.string()),
        read_only: z.literal(true),
        stop_grace_period: z.string(),
      }),
      redis: z.object({
        command: z.array(z.string()),
        environment: z.record(z.string(), z.string()),
        volumes: z.array(z.string()),
      }),
    }),
    volumes: z.record(z.string(), z.unknown()),
  });
  const { services, volumes } = Compose.parse(readDocuments('deploy/compose.yml')[0]);

  test('runs two bots with settings that exist, and lets them stop in peace', () => {
    const { build, deploy, environment, expose, stop_grace_period: grace } = services.bot;
    expect(deploy.replicas).toBe(2);
    expect(existsSync(`${ROOT}/${build.dockerfile}`)).toBe(true);
    expect(Object.keys(environment).filter((name) => !SETTINGS.has(name))).toEqual([]);
    expect(environment).toMatchObject({ PORT, REDIS_URL: `redis://:${GIVEN}@redis:6379` });
    expect(expose).toEqual([PORT]);
    expect(Number.parseInt(grace, 10)).toBeGreaterThan(STOP_SECONDS);
  });

  test('keeps Redis on a volume, with every write on disk and nothing evicted', () => {
    const { command, environment, volumes: mounts } = services.redis;
    expect(command.slice(4).join(' ')).toBe(
      '--appendonly yes --appendfsync always --maxmemory-policy noeviction --maxmemory 512mb',
    );
    expect(environment).toEqual({ REDISCLI_AUTH: GIVEN });
    expect(Object.keys(volumes)).toContain(mounts[0]?.split(':')[0]);
  });
});

describe('the Kubernetes manifests', () => {
  const Resource = z.looseObject({ kind: z.string(), metadata: z.object({ name: z.string() }) });
  const applied = readdirSync(`${ROOT}/deploy/kubernetes`).flatMap((file) =>
    readDocuments(`deploy/kubernetes/${file}`).map((document) => Resource.parse(document)),
  );
  const secrets = readDocuments('deploy/secret.example.yml').map((document) => Resource.parse(document));
  const resources = [...applied, ...secrets];
  const find = (kind: string, name: string) =>
    resources.find((each) => each.kind === kind && each.metadata.name === name);
  const Labels = z.record(z.string(), z.string());
  const Probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
  const Bots = z.object({
    spec: z.object({
      replicas: z.number(),
      selector: z.object({ matchLabels: Labels }),
      podManagementPolicy: z.literal('Parallel'),
      volumeClaimTemplates: z.tuple([z.object({ metadata: z.object({ name: z.string() }) })]),
      template: z.object({
        metadata: z.object({ labels: Labels, annotations: Labels }),
        spec: z.object({
          terminationGracePeriodSeconds: z.number(),
          securityContext: z.object({ runAsNonRoot: z.literal(true) }),
          containers: z.tuple([
            z.object({
              ports: z.tuple([z.object({ name: z.string(), containerPort: z.number() })]),
              env: z.array(z.object({ name: z.string(), value: z.string().optional() })),
              envFrom: z.tuple([z.object({ secretRef: z.object({ name: z.string() }) })]),
              startupProbe: Probe,
              livenessProbe: Probe,
              readinessProbe: Probe,
              securityContext: z.object({ readOnlyRootFilesystem: z.literal(true) }),
            }),
          ]),
        }),
      }),
    }),
  });
  const { spec } = Bots.parse(find('StatefulSet', 'countersign'));
  const pod = spec.template.spec;
  const [bot] = pod.containers;

  test('update without a gap, and let a bot stop in peace', () => {
    expect(spec.replicas).toBe(2);
    expect(spec.volumeClaimTemplates[0].metadata.name).toBe('state');
    expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(STOP_SECONDS);
    expect(find('PodDisruptionBudget', 'countersign')).toMatchObject({
      spec: { minAvailable: 1, selector: { matchLabels: spec.selector.matchLabels } },
    });
  });

  test('probe and scrape addresses that the server has, on its port', () => {
    const [{ name, containerPort }] = bot.ports;
    expect(String(containerPort)).toBe(PORT);
    const probes = [bot.startupProbe, bot.livenessProbe, bot.readinessProbe].map(({ httpGet }) => httpGet);
    expect(probes.map(({ path }) => path)).toEqual(['/health', '/health', '/ready']);
    for (const { port } of probes) expect(port).toBe(name);
    const { annotations } = spec.template.metadata;
    expect(annotations).toMatchObject({ 'prometheus.io/port': PORT, 'prometheus.io/path': '/metrics' });
    const server = readText('src/http/probes.ts');
    for (const path of ['/health', '/ready', '/metrics']) expect(server).toContain(`'${path}'`);
  });

  test('lead from outside to what the server serves there, and not to what operators see', () => {
    const Paths = z.object({
      spec: z.object({
        rules: z.tuple([z.object({ http: z.object({ paths: z.array(z.object({ path: z.string() })) }) })]),
      }),
    });
    const [{ http }] = Paths.parse(readDocuments('deploy/ingress.example.yml')[0]).spec.rules;
    const described = (Environment.shape.PORT.description ?? '').replaceAll('`', '');
    const served = /own HTTP server: (.*)\.$/.exec(described)?.[1];
    const inside = ['/health', '/ready', '/metrics'];
    expect([...http.paths.map(({ path }) => path), ...inside].sort()).toEqual(served?.split(', ').sort());
  });

  test('apply no secret, since one with placeholders would take the place of the real one', () => {
    expect(applied.map(({ kind }) => kind)).not.toContain('Secret');
  });

  test('let only the bots reach Redis, with a password from a secret', () => {
    expect(find('NetworkPolicy', 'countersign-redis')).toMatchObject({
      spec: {
        podSelector: { matchLabels: { app: 'countersign-redis' } },
        ingress: [{ from: [{ podSelector: spec.selector }], ports: [{ port: 6379 }] }],
        egress: [],
      },
    });
    const password = { secretKeyRef: { name: 'countersign-redis', key: 'password' } };
    expect(find('StatefulSet', 'countersign-redis')).toMatchObject({
      spec: {
        template: { spec: { containers: [{ env: [{ name: 'REDISCLI_AUTH', valueFrom: password }] }] } },
      },
    });
    expect(bot.env).toContainEqual({
      name: 'REDIS_URL',
      value: 'redis://:$(REDIS_PASSWORD)@countersign-redis:6379',
    });
    expect(find('Secret', 'countersign-redis')).toMatchObject({ stringData: { password: 'replace-me' } });
  });

  test('set only settings that exist, from a secret of the right name, and reach the Redis beside them', () => {
    const [{ secretRef }] = bot.envFrom;
    const secret = z
      .object({ stringData: z.record(z.string(), z.string()) })
      .parse(find('Secret', secretRef.name));
    const names = [...bot.env.map(({ name }) => name), ...Object.keys(secret.stringData)];
    expect(names.filter((name) => !SETTINGS.has(name))).toEqual(['REDIS_PASSWORD']);
    const url = bot.env.find(({ name }) => name === 'REDIS_URL')?.value ?? '';
    expect(find('Service', new URL(url).hostname)).toBeDefined();
    expect(find('StatefulSet', 'countersign-redis')).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [{ command: expect.arrayContaining(['always', 'noeviction', '--maxmemory']) }],
          },
        },
      },
    });
  });
});

test('the systemd unit starts the bot with settings that exist, and lets it stop in peace', () => {
  const unit = readText('deploy/countersign.service');
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  expect(value('ExecStart')).toMatch(new RegExp(`^/usr/bin/node ${FLAGS.join(' ')} /\\S+/${MAIN}$`));
  const set = [...unit.matchAll(/^Environment=([A-Z_]+)=/gm)].flatMap(([, name]) => name ?? []);
  expect(set.filter((name) => !SETTINGS.has(name))).toEqual(['NODE_ENV']);
  expect(Number(value('TimeoutStopSec'))).toBeGreaterThan(STOP_SECONDS);
  expect(value('DynamicUser')).toBe('yes');
  // Commands beside the unit read what it reads, and the key from where the unit takes it.
  const credential = value('LoadCredential').split(':')[1];
  const added = [...unit.matchAll(/^Environment=([A-Z_]+)=(\S+)/gm)].map(([, name = '', text = '']) => [
    name,
    text.startsWith('%d/') ? credential : text,
  ]);
  expect(UNIT.file).toBe(value('EnvironmentFile'));
  expect({ ...UNIT.settings, NODE_ENV: 'production' }).toEqual(Object.fromEntries(added));
});

test('the workflow runs scripts that exist, on every version of Node that is supported', () => {
  const Workflow = z.object({
    jobs: z.object({
      test: z.object({
        strategy: z.object({ matrix: z.object({ node: z.array(z.number()) }) }),
        steps: z.array(z.object({ run: z.string().optional() })),
      }),
    }),
  });
  const { test: job } = Workflow.parse(readDocuments('.github/workflows/ci.yml')[0]).jobs;
  expect(job.strategy.matrix.node).toEqual([20, 22, 24]);
  const commands = job.steps.flatMap(({ run }) => run ?? []);
  const named = commands.flatMap((command) => /^npm (?:run )?(test[:\w]*)$/.exec(command)?.[1] ?? []);
  expect(named).toEqual(['test', 'test:full']);
  for (const name of named) expect(scripts).toHaveProperty([name]);
});

test('the workflows of releases and security run scripts that exist', () => {
  const Workflow = z.object({
    jobs: z.record(z.string(), z.object({ steps: z.array(z.object({ run: z.string().optional() })) })),
  });
  const named = ['release', 'security'].flatMap((name) =>
    Object.values(Workflow.parse(readDocuments(`.github/workflows/${name}.yml`)[0]).jobs)
      .flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
      .flatMap((command) => /^npm run (?:-s )?([:\w]+)(?: -- \S+)?$/.exec(command)?.[1] ?? []),
  );
  expect(named).toEqual(['audit:dependencies', 'check', 'release', 'audit:dependencies']);
  for (const name of named) expect(scripts).toHaveProperty([name]);
});

test('a release checks its settings, and writes where the package comes from, before anything is made', () => {
  const Workflow = z.object({
    jobs: z.object({ package: z.object({ steps: z.array(z.object({ run: z.string().optional() })) }) }),
  });
  const { steps } = Workflow.parse(readDocuments('.github/workflows/release.yml')[0]).jobs.package;
  const commands = steps.flatMap(({ run }) => run ?? []);
  const at = (part: string) => commands.findIndex((command) => command.includes(part));
  expect(at('test -n "$PACKAGE_HOMEPAGE"')).toBeGreaterThanOrEqual(0);
  for (const field of ['repository.url=', 'homepage=', 'bugs.url=']) {
    expect(at(field)).toBeGreaterThan(at('test -n "$PACKAGE_HOMEPAGE"'));
    expect(at('npm run release')).toBeGreaterThan(at(field));
  }
});

test('the workflows use every action by its commit, with the version beside it', () => {
  const used = readdirSync(`${ROOT}/.github/workflows`)
    .flatMap((name) => readText(`.github/workflows/${name}`).split('\n'))
    .filter((line) => line.includes('uses:'));
  expect(used.length).toBeGreaterThan(10);
  for (const line of nonEmpty(used)) expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
