import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { installSuites } from '../../proof/install.ts';
import { problemsOf, Resource, readResources } from '../../proof/kubernetes.ts';
import { bringUpHelm } from './bring-up-helm.ts';
import { ROOT, readDocuments, readText } from './files.ts';

/** A release tries the chart that it has packed. */
const CHART = process.env.COUNTERSIGN_CHART ?? join(ROOT, 'deploy/helm');
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** Sets of values, from none to all of them. */
const VALUES = {
  none: [],
  least: ['replicas=1', 'redis.enabled=false', 'audit.enabled=false', 'service.enabled=false'],
  most: [
    `image=images.example.com:5000/countersign@${DIGEST}`,
    'imagePullPolicy=Always',
    'imagePullSecrets={first,second}',
    'replicas=5',
    'resources.requests.cpu=1',
    'resources.limits.memory=1.5Gi',
    'env.LOG_LEVEL=debug',
    'env.REDIS_PREFIX=5',
    'audit.storage=20Gi',
    'audit.storageClass=shared',
    'redis.image=redis:7.4',
    'redis.storage=8Gi',
    'redis.storageClass=fast',
  ],
} as const;

const Container = z.looseObject({
  securityContext: z.unknown(),
  image: z.string(),
  env: z.array(z.looseObject({ name: z.string() })).optional(),
});
const Workload = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        securityContext: z.unknown(),
        initContainers: z.array(Container).default([]),
        containers: z.array(Container),
      }),
    }),
  }),
});

let helm: [string, ...string[]];
/** A home without settings of the person who runs the tests. */
const home = mkdtempSync(join(tmpdir(), 'countersign-helm-home-'));
const rendered = new Map<string, Resource[]>();

beforeAll(async () => {
  helm = await bringUpHelm({ log: (line) => process.stdout.write(`${line}\n`) });
  installSuites();
  for (const [name, values] of Object.entries(VALUES)) rendered.set(name, render('countersign', values));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function runHelm(args: readonly string[]) {
  const [program, ...first] = helm;
  const env = { PATH: process.env.PATH, HOME: home };
  const { error, status, stdout, stderr } = spawnSync(program, [...first, ...args], {
    env,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

const settings = (values: readonly string[]) =>
  values.flatMap((value) => [value.startsWith('env.') ? '--set-string' : '--set', value]);

function render(release: string, values: readonly string[]): Resource[] {
  const { status, stdout, stderr } = runHelm(['template', release, CHART, ...settings(values)]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return parseAllDocuments(stdout).map((document) => Resource.parse(document.toJS()));
}

const renderedWith = (name: keyof typeof VALUES) => rendered.get(name) ?? [];
const nameOf = ({ kind, metadata }: Resource) => `${kind} ${metadata.name}`;
const byName = (resources: readonly Resource[]) =>
  Object.fromEntries(resources.map((resource) => [nameOf(resource), resource]));
const podsOf = (resources: readonly Resource[]) =>
  resources.flatMap((resource) => Workload.safeParse(resource).data?.spec.template.spec ?? []);

/** The resource as it is without Helm: only Helm reads its own annotations. */
function withoutHelm(resource: Resource): Resource {
  const { annotations, ...metadata } = resource.metadata;
  const others = Object.entries(annotations ?? {}).filter(([name]) => !name.startsWith('helm.sh/'));
  return {
    ...resource,
    metadata: { ...metadata, ...(others.length > 0 && { annotations: Object.fromEntries(others) }) },
  };
}

test('without values the chart gives what deploy/kubernetes has, and no secret', () => {
  const applied = readResources().filter(({ kind }) => kind !== 'Secret');
  expect(byName(renderedWith('none').map(withoutHelm))).toEqual(byName(applied));
});

test('the names of another release differ in nothing else', () => {
  const text = JSON.stringify(byName(render('payments', [])));
  expect(JSON.parse(text.replaceAll('payments', 'countersign'))).toEqual(byName(renderedWith('none')));
});

test('the schemas of Kubernetes accept every resource with every set of values, and refuse a misspelled field', async () => {
  const all = [...rendered.values()].flat();
  const misspelled = all.map((each) =>
    Resource.parse({ ...each, spec: { ...Object(each.spec), replica: 'two' } }),
  );
  const problems = await problemsOf([...all, ...misspelled]);
  expect(
    all.flatMap((each) => (problems.get(each) ?? []).map((problem) => `${nameOf(each)}: ${problem}`)),
  ).toEqual([]);
  for (const each of misspelled) expect(problems.get(each), nameOf(each)).not.toEqual([]);
});

test('no value weakens a container', () => {
  for (const name of ['none', 'least', 'most'] as const) {
    const pods = podsOf(renderedWith(name));
    expect(pods).toHaveLength(name === 'least' ? 1 : 2);
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const { securityContext } of [...pod.initContainers, ...pod.containers])
        expect(securityContext).toEqual({
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        });
    }
  }
});

test('a single bot with a Redis of your own has nothing that it does not need, and its address from the secret', () => {
  const least = renderedWith('least');
  expect(least.map(nameOf).sort()).toEqual(['NetworkPolicy countersign', 'StatefulSet countersign']);
  expect(podsOf(least)[0]?.containers[0]?.env?.map(({ name }) => name)).toEqual([
    'MANIFEST',
    'PORT',
    'AUDIT_STATE_FILE',
  ]);
  expect(JSON.stringify(least)).not.toMatch(/\/audit"|-redis/);
});

test('every value arrives where it belongs', () => {
  const most = byName(renderedWith('most'));
  const secrets = [{ name: 'first' }, { name: 'second' }];
  const image = `images.example.com:5000/countersign@${DIGEST}`;
  const deployment = Workload.parse(most['StatefulSet countersign']);
  const pod = deployment.spec.template.spec;
  expect(deployment.spec).toMatchObject({ replicas: 5 });
  expect(pod).toMatchObject({
    imagePullSecrets: secrets,
    containers: [
      {
        image,
        imagePullPolicy: 'Always',
        resources: { requests: { cpu: 1, memory: '192Mi' }, limits: { memory: '1.5Gi' } },
      },
    ],
  });
  expect(pod.containers[0]?.env?.slice(-2)).toEqual([
    { name: 'LOG_LEVEL', value: 'debug' },
    { name: 'REDIS_PREFIX', value: '5' },
  ]);
  expect(most['PersistentVolumeClaim countersign-audit']).toMatchObject({
    spec: { storageClassName: 'shared', resources: { requests: { storage: '20Gi' } } },
  });
  expect(most['StatefulSet countersign-redis']).toMatchObject({
    spec: {
      template: { spec: { imagePullSecrets: secrets, containers: [{ image: 'redis:7.4' }] } },
      volumeClaimTemplates: [
        { spec: { storageClassName: 'fast', resources: { requests: { storage: '8Gi' } } } },
      ],
    },
  });
});

/** Wrong values with what Helm says about each. */
const WRONG = {
  'replicas=two': "at '/replicas': got string, want integer",
  'replica=3': "at '': additional properties 'replica' not allowed",
  'audit.enable=false': "at '/audit': additional properties 'enable' not allowed",
  'image=countersign': "at '/image': 'countersign' does not match pattern",
  'redis.storage=lots': "at '/redis/storage': 'lots' does not match pattern",
  'imagePullPolicy=Sometimes': "at '/imagePullPolicy': value must be one of",
  'env.SLACK_BOT_TOKEN=xoxb-1': "invalid propertyName 'SLACK_BOT_TOKEN'",
  'env.REDIS_URL=redis://elsewhere': "invalid propertyName 'REDIS_URL'",
};

test.each([
  ['a wrong value is one clear error', ['replicas=0'], ["at '/replicas': minimum: got 0, want 1"]],
  ['all wrong values are named at once', Object.keys(WRONG), Object.values(WRONG)],
])('%s, and nothing is rendered', (_name, values, words) => {
  const { status, stdout, stderr } = runHelm(['template', 'countersign', CHART, ...settings(values)]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  for (const each of words) expect(stderr).toContain(each);
  expect(stderr.match(/^Error: /gm)).toHaveLength(1);
});

test('helm lint finds nothing', () => {
  const { status, stdout } = runHelm(['lint', '--strict', CHART]);
  expect({ status, found: stdout.match(/\[(?:ERROR|WARNING)\]/g) }).toEqual({ status: 0, found: null });
});

test('the chart has the version of the package', () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readText('package.json')));
  expect(readDocuments('deploy/helm/Chart.yaml')[0]).toMatchObject({ version, appVersion: version });
});
