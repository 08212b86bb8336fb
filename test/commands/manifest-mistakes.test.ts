import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { LOCK_FILE, readLockText } from '../../src/tools/manifest/tool-lock.ts';
import { conditions } from './mistakes/conditions.ts';
import { contents } from './mistakes/contents.ts';
import { doubts } from './mistakes/doubts.ts';
import { GOOD_MANIFEST } from './mistakes/good-manifest.ts';
import type { Mistake } from './mistakes/mistake.ts';
import { names } from './mistakes/names.ts';
import { outside } from './mistakes/outside.ts';
import { shape } from './mistakes/shape.ts';
import { newFolder, type Ran, run, writeManifest } from './support.ts';

const MISTAKES = [...names, ...conditions, ...contents, ...doubts, ...shape, ...outside];

const MODULE = `export const deploy = {
  kind: 'tool', name: 'deploy', description: 'Deploys.', effect: 'once', run: async () => 'done', matches: () => false,
  inputSchema: { jsonSchema: { type: 'object', properties: {
    service: { type: 'string' }, owner: { type: 'string' }, count: { type: 'integer' },
    environment: { type: 'string', enum: ['staging', 'production'] },
  } } },
};
`;
const SERVER = `import { McpServer } from '${import.meta.resolve('@modelcontextprotocol/server')}';
import { StdioServerTransport } from '${import.meta.resolve('@modelcontextprotocol/server/stdio')}';
import { z } from '${import.meta.resolve('zod')}';
const server = new McpServer({ name: 'crm', version: '1' });
for (const name of ['get_contact', 'update_contact'])
  server.registerTool(name, { description: name, inputSchema: z.object({ contact: z.string() }) }, () => ({ content: [] }));
await server.connect(new StdioServerTransport());
`;
const FILES = {
  'deploy.mjs': MODULE,
  'crm.mjs': SERVER,
  'broken.mjs': "import 'left-out';",
  'empty.mjs': 'export const nothing = 1;',
};

let shop: Server;
let slack: LocalSlack;
let port: number;
let lock: string | undefined;
beforeAll(async () => {
  const scopes = /bot: \[(.*)\]/.exec(GOOD_MANIFEST)?.[1]?.split(', ');
  slack = await startLocalSlack({ app: { scopes: scopes ?? [] } });
  shop = createServer((_request, response) => response.writeHead(401).end()).listen(0, 'localhost');
  await new Promise((resolve) => shop.once('listening', resolve));
  const address = shop.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(async () => {
  shop.close();
  await slack.stop();
});

const MARK = '▸';

function writeBot(text: string): { readonly file: string; readonly folder: string } {
  const folder = newFolder();
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
  return { file: writeManifest(text, folder), folder };
}

/** Writes the good manifest, or one with a mistake, with its files; the mark gives the place where the mistake must be reported. */
async function plant(mistake?: Pick<Mistake, 'from' | 'to' | 'also'>) {
  const changes =
    mistake === undefined
      ? []
      : [[mistake.from, mistake.to] as const, ...(mistake.also ? [mistake.also] : [])];
  const marked = changes
    .reduce((text, [from, to]) => {
      expect(text).toContain(from);
      return text.replace(from, () => to);
    }, GOOD_MANIFEST)
    .replaceAll(/localhost:9\b/g, `localhost:${port}`);
  const before = marked.slice(0, Math.max(0, marked.indexOf(MARK))).split('\n');
  const place = marked.includes(MARK) ? `${before.length}:${(before.at(-1) ?? '').length + 1}` : undefined;
  const { file, folder } = writeBot(marked.replace(MARK, ''));
  const environment = {
    MANIFEST: file,
    SHOP_KEY: 'key-of-the-shop',
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
  };
  if (lock === undefined) {
    const good = writeBot(GOOD_MANIFEST);
    const locked = await run(['manifest', 'lock'], { ...environment, MANIFEST: good.file });
    expect(locked).toMatchObject({ code: 0, error: '' });
    lock = await readLockText(good.folder);
  }
  writeFileSync(join(folder, LOCK_FILE), lock ?? '');
  return { file, place, environment };
}

/** Returns the lines in which a command reports a mistake at its place. */
function reports({ out, error }: Ran, { says }: Mistake, file: string, place: string | undefined): string[] {
  return `${error}${out}`
    .split('\n')
    .filter((line) => says.test(line) && (place === undefined || line.includes(`${file}:${place}: `)));
}

interface Finding {
  readonly by: Mistake['by'];
  readonly said: string;
  /** It was reported with a line and a column, the marked ones if there is a mark. */
  readonly isPlaced: boolean;
}

async function finder(mistake: Mistake): Promise<Finding> {
  const { file, place, environment } = await plant(mistake);
  const placed = (lines: string[]) => lines.some((line) => /manifest\.yml:\d+:\d+: /.test(line));
  const check = await run(['manifest', 'check'], environment);
  const byCheck = reports(check, mistake, file, place);
  if (byCheck.length > 0) return { by: 'check', said: check.error, isPlaced: placed(byCheck) };
  if (mistake.by === 'check') return { by: 'nobody', said: check.error, isPlaced: false };
  const doctor = await run(['doctor'], environment);
  const byDoctor = reports(doctor, mistake, file, place);
  const by = byDoctor.length > 0 ? 'doctor' : 'nobody';
  return { by, said: doctor.out, isPlaced: placed(byDoctor) };
}

test('the good manifest has no mistake', async () => {
  const { environment } = await plant();
  expect(await run(['manifest', 'check'], environment)).toMatchObject({ code: 0, error: '' });
  const { out } = await run(['doctor'], environment);
  expect(
    out
      .split('\n')
      .filter((line) => /manifest|tool|people|group|quorum/.test(line) && !line.startsWith('ok ')),
  ).toEqual([]);
});

test('there are at least 128 mistakes of at least 24 kinds, and both commands together miss three', () => {
  const by = (who: Mistake['by']) => MISTAKES.filter((mistake) => mistake.by === who).length;
  expect(new Set(MISTAKES.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(24);
  expect(by('check')).toBeGreaterThanOrEqual(120);
  expect([by('doctor'), by('nobody')]).toEqual([7, 3]);
});

const found: { readonly mistake: Mistake; readonly by: Mistake['by']; readonly isPlaced: boolean }[] = [];

test.each(MISTAKES)('$kind: $to', async (mistake) => {
  const { by, said, isPlaced } = await finder(mistake);
  found.push({ mistake, by, isPlaced });
  expect(by, said).toBe(mistake.by);
});

/** Writes what was found as the table of docs/evidence/faults.md. */
function table(): string {
  const count = (by: Mistake['by']) => found.filter((each) => each.by === by).length;
  const placed = found.filter(({ isPlaced }) => isPlaced).length;
  return [
    '| mistake | planted | found by `check` | by `doctor` | by nobody | with line and column |',
    '| --- | --- | --- | --- | --- | --- |',
    `| **all** | ${found.length} | ${count('check')} | ${count('doctor')} | ${count('nobody')} | ${placed} |`,
  ].join('\n');
}

test('docs/evidence/faults.md has the table of what was found, and counts the kinds', () => {
  expect(found.length).toBe(MISTAKES.length);
  const page = readFileSync(new URL('../../docs/evidence/faults.md', import.meta.url), 'utf8');
  expect(page).toContain(table());
  expect(page).toContain(`mistakes of ${new Set(MISTAKES.map(({ kind }) => kind)).size} kinds`);
});
