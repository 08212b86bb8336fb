import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { openMcpServer } from '../../src/tools/mcp/open-mcp-server.ts';
import { replaceTable } from '../docs-table.ts';

/** Starts twelve real servers from npm and counts the tools that load; none of them needs a network for that. */
const folder = fileURLToPath(new URL('.', import.meta.url));
const Package = z.object({ version: z.string(), bin: z.record(z.string(), z.string()) });

/** A server with the number of its tools that load, and of those that do not. */
type Expected = readonly [name: string, loaded: number, leftOut: number];

const EXPECTED: readonly Expected[] = [
  ['@modelcontextprotocol/server-everything', 15, 0],
  ['@modelcontextprotocol/server-filesystem', 14, 0],
  ['@modelcontextprotocol/server-github', 26, 0],
  ['@modelcontextprotocol/server-gitlab', 9, 0],
  ['@modelcontextprotocol/server-google-maps', 7, 0],
  ['@modelcontextprotocol/server-memory', 9, 0],
  ['@modelcontextprotocol/server-sequential-thinking', 1, 0],
  ['@modelcontextprotocol/server-slack', 8, 0],
  ['@notionhq/notion-mcp-server', 24, 0],
  ['@playwright/mcp', 25, 0],
  ['@upstash/context7-mcp', 2, 0],
  ['chrome-devtools-mcp', 32, 0],
];

/** Some servers do not start without a key; none is used before a call. */
const KEYS = [
  'GITHUB_PERSONAL_ACCESS_TOKEN',
  'GITLAB_PERSONAL_ACCESS_TOKEN',
  'GOOGLE_MAPS_API_KEY',
  'NOTION_TOKEN',
  'SLACK_BOT_TOKEN',
  'SLACK_TEAM_ID',
];

if (!existsSync(join(folder, 'node_modules'))) {
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
}
const workspace = mkdtempSync(join(tmpdir(), 'servers-'));
const rows: string[] = [];
let total = 0;
for (const [name, loaded, leftOut] of EXPECTED) {
  const installed = join(folder, 'node_modules', name);
  const { version, bin } = Package.parse(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')));
  const server = openMcpServer(
    {
      transport: 'stdio',
      command: process.execPath,
      args: [
        join(installed, Object.values(bin)[0] ?? ''),
        ...(name.endsWith('filesystem') ? [workspace] : []),
      ],
      env: Object.fromEntries(KEYS.map((key) => [key, 'none'])),
      cwd: workspace,
      prefix: '',
      timeoutMs: 60_000,
    },
    { name, log: { info: () => {}, warn: () => {} }, onChange: () => {} },
  );
  await server.ready;
  const { tools, problems, protocol, lastError } = server.describe();
  await server.close();
  total += tools.length;
  rows.push(`| ${[name, version, protocol ?? '–', tools.length, problems.length].join(' | ')} |`);
  const isExpected = tools.length === loaded && problems.length === leftOut;
  console.log(
    `${isExpected ? 'pass' : 'FAIL'}  ${name} ${version}: ${tools.length} tools`,
    problems,
    lastError ?? '',
  );
  if (!isExpected) process.exitCode = 1;
}
rmSync(workspace, { recursive: true, force: true });
console.log(`${total} tools`);
if (process.argv.includes('--write')) {
  const head = ['| package | version | protocol | tools | left out |', '| --- | --- | --- | --- | --- |'];
  replaceTable('servers', [...head, ...rows]);
}
