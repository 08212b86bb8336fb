import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  checkFolders,
  checkPackages,
  filesLoadedWith,
  findCycles,
  isOf,
  packagesLoadedWith,
  readImports,
  type SourceFile,
} from './support/imports.ts';

/** The modules of the bot, the lowest first: each imports only those before it. */
const BOT_MODULES = [
  'slack/',
  'views/',
  'connections/',
  'thread-status.ts',
  'context.ts',
  'asks/',
  'outbox/',
  'engine-context.ts',
  'policy-change.ts',
  'turn-context.ts',
  'inbox/',
  'work-handlers.ts',
];

/** The folders of the engine, the lowest first, above its own files; each imports only those before it. */
const ENGINE_FOLDERS = ['asks/', 'turns/'];
const engineFiles = [
  ...readdirSync(new URL('../src/engine', import.meta.url))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/engine/${name}`),
  // Each facet is a file of its own, and the files of the engine walk their list.
  'src/engine/facets/',
];

/** The allowed imports between folders; everything else is forbidden. */
const folders = [
  { folder: 'src/agent/', mayImport: ['src/agent/'] },
  {
    folder: 'src/policy/',
    mayImport: ['src/policy/', 'src/agent/json.ts', 'src/agent/errors.ts', 'src/agent/util/'],
  },
  { folder: 'src/tools/', mayImport: ['src/tools/', 'src/policy/', 'src/agent/'] },
  {
    folder: 'src/store/',
    mayImport: [
      'src/store/',
      'src/agent/messages.ts',
      'src/agent/json.ts',
      'src/agent/json-schema.ts',
      'src/agent/util/',
    ],
  },
  {
    folder: 'src/audit/',
    mayImport: [
      'src/audit/',
      'src/store/port/',
      'src/store/record/chain-check.ts',
      'src/agent/json.ts',
      'src/policy/proof.ts',
      'src/policy/digest.ts',
    ],
  },
  {
    folder: 'src/observe/',
    mayImport: ['src/observe/', 'src/agent/', 'src/store/port/', 'src/tools/toolbox/toolbox.ts'],
  },
  ...ENGINE_FOLDERS.map((folder, at) => ({
    folder: `src/engine/${folder}`,
    mayImport: [
      ...engineFiles,
      ...ENGINE_FOLDERS.slice(0, at + 1).map((lower) => `src/engine/${lower}`),
      'src/agent/',
      'src/policy/',
      'src/tools/',
      'src/store/port/',
      'src/store/documents/',
    ],
  })),
  {
    folder: 'src/engine/',
    mayImport: [...engineFiles, 'src/agent/', 'src/policy/', 'src/tools/', 'src/store/port/'],
  },
  { folder: 'src/http/', mayImport: ['src/http/', 'src/agent/util/'] },
  ...BOT_MODULES.map((module, at) => ({
    folder: `src/bot/${module}`,
    mayImport: [
      ...BOT_MODULES.slice(0, at + 1).map((lower) => `src/bot/${lower}`),
      'src/http/',
      'src/engine/',
      'src/agent/',
      'src/policy/',
      'src/tools/',
      'src/store/port/',
      'src/store/documents/',
      'src/observe/',
    ],
  })),
  { folder: 'src/bot/', mayImport: [] },
  {
    folder: 'src/door/',
    mayImport: [
      'src/door/',
      'src/http/',
      'src/engine/',
      'src/agent/',
      'src/policy/',
      'src/tools/',
      'src/store/port/',
    ],
  },
  // It is for programs of others, also outside of Node: it knows nothing of the bot.
  { folder: 'src/client/', mayImport: ['src/client/'] },
  // The page reads: it knows who may decide as the bot does, and nothing of how a decision is made.
  {
    folder: 'src/page/',
    mayImport: [
      'src/page/',
      'src/http/',
      'src/agent/',
      'src/policy/',
      'src/tools/',
      'src/engine/',
      'src/audit/',
      'src/store/port/',
      'src/store/documents/',
      'src/store/record/chain-text.ts',
      'src/bot/slack/',
      'src/bot/views/',
    ],
  },
  { folder: 'src/', mayImport: ['src/'] },
];

/** The packages that only one place may know of. */
const packages = [
  { name: '@slack/*', onlyIn: ['src/bot/'] },
  { name: 'hono', onlyIn: ['src/http/'] },
  { name: '@hono/*', onlyIn: ['src/http/'] },
  { name: 'ioredis', onlyIn: ['src/store/'] },
  { name: 'bullmq', onlyIn: ['src/store/'] },
  { name: 'openai', onlyIn: ['src/agent/openai/'] },
  { name: 'prom-client', onlyIn: ['src/observe/'] },
  { name: '@opentelemetry/*', onlyIn: ['src/observe/'] },
];

/** The packages that many bots never need: they are loaded when something needs them, and cost nothing until then. */
const LATE = [
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  '@simplewebauthn/server',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/sdk-trace-node',
  'sharp',
  'tsx',
  'unpdf',
];

const root = fileURLToPath(new URL('..', import.meta.url));
const source: SourceFile[] = readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => `src/${path.replaceAll('\\', '/')}`)
  .map((path) => ({ path, imports: readImports(path, readFileSync(`${root}/${path}`, 'utf8')) }));

describe('the source', () => {
  test('has imports to check', () => {
    expect(source.find(({ path }) => path === 'src/index.ts')?.imports).toContainEqual({
      target: 'src/agent/generate.ts',
      isOwn: true,
      isTypeOnly: false,
      isLate: false,
    });
  });

  test('imports between folders go one way, and never into the playground, the examples, the tests or the bench', () => {
    expect(checkFolders(source, folders)).toEqual([]);
  });

  test('no file names the examples, the playground, the tests or the bench', () => {
    const outside = /\b(?:examples|playground|test|bench)\/|\bplayground\b|\bledger\b/i;
    const found = source.filter(({ path }) => outside.test(readFileSync(`${root}/${path}`, 'utf8')));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  test('the engine reads no id of Slack: people, groups and channels are opaque to it', () => {
    const slackId = /\[[A-Z]{1,3}\]\[A-Z0-9\]|startsWith\('[A-Z]'\)/;
    const engine = source.filter(({ path }) => path.startsWith('src/engine/'));
    expect(engine.map(({ path }) => path)).toContain('src/engine/turns/run-turn.ts');
    const found = engine.filter(({ path }) => slackId.test(readFileSync(`${root}/${path}`, 'utf8')));
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  test('no literal is spread into another, and no file of the port passes on what others declare', () => {
    const spreads = source.filter(({ path }) =>
      /^\s*\.\.\.\{ /m.test(readFileSync(`${root}/${path}`, 'utf8')),
    );
    expect(spreads.map(({ path }) => path)).toEqual([]);
    const barrel = readFileSync(`${root}/src/store/port/store.ts`, 'utf8');
    expect(barrel).not.toMatch(/^export .* from /m);
  });

  test('packages with a place of their own are imported only there', () => {
    expect(checkPackages(source, packages)).toEqual([]);
  });

  test('a bot starts without the packages that only some bots need', () => {
    const loaded = packagesLoadedWith('src/run-bot.ts', source);
    expect([...loaded.keys()]).toContain('@slack/bolt');
    expect([...loaded].filter(([target]) => LATE.some((name) => isOf(name, target)))).toEqual([]);
  });

  test('a bot starts without what answers at the page and at the door, until somebody asks there', () => {
    const loaded = filesLoadedWith('src/run-bot.ts', source);
    expect(loaded).toContain('src/http/router.ts');
    const late = [
      'page/page',
      'page/sign-in',
      'page/api',
      'door/rest',
      'door/mcp',
      'door/identity',
      'door/openapi',
    ];
    const files = late.map((path) => `src/${path}.ts`);
    expect(source.map(({ path }) => path)).toEqual(expect.arrayContaining(files));
    expect(files.filter((path) => loaded.includes(path))).toEqual([]);
  });

  test('the entry of the package loads neither Slack nor Redis before a bot starts', () => {
    const loaded = [...packagesLoadedWith('src/index.ts', source).keys()];
    expect(loaded).toContain('openai');
    const ofBots = [...LATE, '@slack/*', 'ioredis', 'bullmq', 'pino', 'yaml', 'prom-client'];
    expect(loaded.filter((target) => ofBots.some((name) => isOf(name, target)))).toEqual([]);
  });

  test('no file of the wiring knows more than 25 others', () => {
    const wiring = source.filter(({ path }) => /^src\/(?:workspace\/)?[^/]+\.ts$/.test(path));
    expect(wiring.map(({ path }) => path)).toContain('src/workspace/open-workspace.ts');
    const large = wiring.filter(({ path, imports }) => path !== 'src/index.ts' && imports.length > 25);
    expect(large.map(({ path }) => path)).toEqual([]);
  });

  test('no file imports itself, however many files lie between, not even by types', () => {
    expect(findCycles(source, { types: true })).toEqual([]);
  });
});

describe('the check', () => {
  const file = (path: string, text: string): SourceFile => ({ path, imports: readImports(path, text) });

  test.each([
    ['src/agent/a.ts', "import { b } from '../store/b.ts';", 'src/store/b.ts'],
    ['src/agent/a.ts', "import type { B } from '../tools/b.ts';", 'src/tools/b.ts'],
    ['src/agent/openai/a.ts', "export { b } from '../../bot/b.ts';", 'src/bot/b.ts'],
    ['src/tools/a.ts', "import '../store/port/store.ts';", 'src/store/port/store.ts'],
    ['src/policy/a.ts', "import type { Tool } from '../agent/tool.ts';", 'src/agent/tool.ts'],
    ['src/policy/a.ts', "import { b } from '../tools/b.ts';", 'src/tools/b.ts'],
    ['src/policy/a.ts', "import type { B } from '../store/port/b.ts';", 'src/store/port/b.ts'],
    ['src/agent/a.ts', "import { b } from '../policy/b.ts';", 'src/policy/b.ts'],
    ['src/store/a.ts', "import { generate } from '../agent/generate.ts';", 'src/agent/generate.ts'],
    ['src/bot/inbox/a.ts', "const b = await import('../../store/redis.ts');", 'src/store/redis.ts'],
    ['src/bot/inbox/a.ts', "export * from '../../main.ts';", 'src/main.ts'],
    ['src/bot/views/a.ts', "import type { B } from '../context.ts';", 'src/bot/context.ts'],
    ['src/bot/outbox/a.ts', "import { b } from '../inbox/b.ts';", 'src/bot/inbox/b.ts'],
    ['src/bot/slack/a.ts', "import { b } from '../views/texts/b.ts';", 'src/bot/views/texts/b.ts'],
    ['src/bot/a.ts', "import type { B } from './context.ts';", 'src/bot/context.ts'],
    ['src/engine/a.ts', "import type { B } from '../bot/context.ts';", 'src/bot/context.ts'],
    ['src/engine/a.ts', "import type { B } from '../door/door.ts';", 'src/door/door.ts'],
    ['src/door/a.ts', "import type { B } from '../bot/context.ts';", 'src/bot/context.ts'],
    ['src/door/a.ts', "import { b } from '../store/redis/b.ts';", 'src/store/redis/b.ts'],
    ['src/bot/inbox/a.ts', "import { Door } from '../../door/door.ts';", 'src/door/door.ts'],
    ['src/engine/a.ts', "import { b } from '../store/redis/b.ts';", 'src/store/redis/b.ts'],
    ['src/page/a.ts', "import { b } from '../bot/inbox/b.ts';", 'src/bot/inbox/b.ts'],
    ['src/http/a.ts', "import { b } from '../door/rest.ts';", 'src/door/rest.ts'],
    ['src/tools/a.ts', "import { admit } from '../engine/admit.ts';", 'src/engine/admit.ts'],
    ['src/store/a.ts', "import { admit } from '../engine/admit.ts';", 'src/engine/admit.ts'],
    ['src/main.ts', "import { b } from '../playground/model/b.ts';", 'playground/model/b.ts'],
    ['src/cli.ts', "import b, { c } from '../test/b.ts';", 'test/b.ts'],
    ['src/store/a.ts', "import * as b from '../../bench/b.ts';", 'bench/b.ts'],
    ['src/agent/a.ts', "import {\n  b,\n  type C,\n} from '../bot/b.ts';", 'src/bot/b.ts'],
    ['src/store/a.ts', "import b from '../../playground/b.mjs';", 'playground/b.mjs'],
    ['src/agent/a.ts', "type B = import('../bot/b.ts').B;", 'src/bot/b.ts'],
  ])('%s may not say %s', (path, text, target) => {
    expect(checkFolders([file(path, text)], folders)).toEqual([`${path} may not import ${target}`]);
  });

  test.each([
    ['src/tools/a.ts', "import { b } from '../agent/b.ts';"],
    ['src/store/a.ts', "import type { Message } from '../agent/messages.ts';"],
    ['src/bot/asks/a.ts', "import type { Store } from '../../store/port/store.ts';"],
    ['src/bot/inbox/a.ts', "import { admit } from '../../engine/admit.ts';"],
    ['src/main.ts', "import { b } from './store/redis.ts';"],
    ['src/agent/a.ts', "import { z } from 'zod';\nimport { readFile } from 'node:fs/promises';"],
    ['src/agent/a.ts', "// import { b } from '../bot/b.ts';\nexport const words = ['from', '../bot/b.ts'];"],
  ])('%s may say %s', (path, text) => {
    expect(checkFolders([file(path, text)], folders)).toEqual([]);
  });

  test.each([
    ['src/agent/generate.ts', "import OpenAI from 'openai';", 'openai'],
    ['src/agent/generate.ts', "import type { Chat } from 'openai/resources';", 'openai/resources'],
    ['src/main.ts', "import { App } from '@slack/bolt';", '@slack/bolt'],
    ['src/bot/a.ts', "import { Redis } from 'ioredis';", 'ioredis'],
    ['src/main.ts', "const { Queue } = await import('bullmq');", 'bullmq'],
  ])('%s may not know the package in %s', (path, text, target) => {
    expect(checkPackages([file(path, text)], packages)).toEqual([`${path} may not import ${target}`]);
  });

  test('a package is known in its own place, and one with a longer name is another', () => {
    const files = [
      file('src/agent/openai/chat-model.ts', "import OpenAI from 'openai';"),
      file('src/bot/a.ts', "import { App } from '@slack/bolt';\nimport x from 'openai-extras';"),
    ];
    expect(checkPackages(files, packages)).toEqual([]);
  });

  test('a package is loaded with a file by the files that it imports, but not by their types and not by what they load late', () => {
    const files = [
      file('src/a.ts', "import { b } from './b.ts';\nconst late = () => import('../src/late.ts');"),
      file('src/b.ts', "import { now } from 'now';\nimport type { Type } from 'types';"),
      file('src/late.ts', "import { late } from 'late';"),
    ];
    expect([...packagesLoadedWith('src/a.ts', files)]).toEqual([['now', 'src/b.ts']]);
  });

  test('a circle of imports is found and told once; types do not close it', () => {
    const circle = [
      file('src/a.ts', "import { b } from './b.ts';"),
      file('src/b.ts', "export { c } from './c.ts';"),
      file('src/c.ts', "import './a.ts';"),
      file('src/d.ts', "import { a } from './a.ts';"),
    ];
    expect(findCycles(circle)).toEqual(['src/a.ts -> src/b.ts -> src/c.ts -> src/a.ts']);
    const byType = [...circle.slice(0, 2), file('src/c.ts', "import type { A } from './a.ts';")];
    expect(findCycles(byType)).toEqual([]);
    expect(findCycles(byType, { types: true })).toHaveLength(1);
    expect(findCycles([file('src/a.ts', "import './a.ts';")])).toEqual(['src/a.ts -> src/a.ts']);
  });
});
