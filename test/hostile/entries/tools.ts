import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { CAST, PLACES } from '../../stories/support.ts';
import { JSONS, PAYLOAD, TEXTS } from '../corpus.ts';
import { seenFile } from '../fixtures/seen-file.ts';
import { nodesIn } from '../oracle.ts';
import { boxesIn, pick, quotesIn, shownAs } from '../shown.ts';
import { callsOf, playAll, startStage } from '../stage.ts';
import { quoteForYaml } from './manifest.ts';

const DESCRIBED = /What this does/;
const MODULE = './test/hostile/fixtures/hostile-tools.ts';

/** Serves the items as bytes: the texts as text, the rest as JSON that may be none. */
async function serveItems(): Promise<{ readonly port: number; readonly served: string[] }> {
  const served: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    const [, kind, row] = url.split('/');
    served.push(url);
    const isText = kind === 'text';
    const body = isText ? TEXTS[Number(row)]?.text : JSONS[Number(row)]?.json;
    response.setHeader('content-type', isText ? 'text/plain; charset=utf-8' : 'application/json');
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port');
  return { port: address.port, served };
}

const fetchTool = (port: number) => `  fetch_page:
    description: Fetches a page.
    http:
      method: POST
      url: "http://127.0.0.1:${port}/{{input.kind}}/{{input.row}}"
      allow_private: [127.0.0.1]
      max_bytes: 4000000
    input: { type: object, properties: { kind: { type: string }, row: { type: integer } }, required: [kind, row] }
    approval: { policy: default }
`;

/** Returned by a page, thrown as an error and said while working; the model repeats all of it, and then sums up with it. */
export async function playOutputs() {
  const { port } = await serveItems();
  const tools = `${fetchTool(port)}  failing:
    module: ${MODULE}
    approval: [{ match: fail_with, policy: default }, { match: "*", require: never }]
`;
  const stage = await startStage({
    tools,
    reply: (row, { results }) => {
      const text = TEXTS[row]?.text ?? '';
      if (results.length === 0) {
        return callsOf(
          '',
          { name: 'report_progress', arguments: { row } },
          { name: 'fetch_page', arguments: { kind: 'text', row } },
          { name: 'fail_with', arguments: { row } },
        );
      }
      const done = { outcome: 'done', summary: text, result: { [text]: text } };
      return callsOf(results.join('\n\n'), { name: 'complete_task', arguments: done });
    },
  });
  const { workspace } = stage;
  const statuses = () =>
    workspace.calls.flatMap(({ method, arguments: given }) =>
      method === 'assistant.threads.setStatus' ? [{ ...given }] : [],
    );
  const outcomes = await playAll(TEXTS, async ({ text }, row) => {
    const thread = stage.begin(row);
    const status = await workspace.until(
      () =>
        statuses().find(
          ({ thread_ts, status: words }) =>
            thread_ts === thread.ts && String(words).startsWith('is running: Report progress:'),
        ),
      { what: 'the progress of the tool' },
    );
    writeFileSync(seenFile(row), '');
    for (const title of ['Fetch page', 'Fail with']) {
      await thread.click(CAST.alice, new RegExp(`Approval needed: ${title}`), 'approve');
    }
    const fetched = await thread.shows(/(Done|Ran, with an unusable result): Fetch page/);
    const failed = await thread.shows(/Failed: Fail with/);
    await thread.shows(/Done\./);
    const details = await stage.detailsOf(CAST.bruno, fetched);
    const isRefused = JSON.stringify(details).includes('over the limit');
    const output = isRefused ? 'done, and its output is refused' : shownAs(text, details);
    return {
      output,
      error: shownIn(text, failed.blocks),
      progress: shownAs(text, { text: String(status.status) }),
      summary: 'told in a reply that is dead',
    };
  });
  await stage.expectUnharmed();
  expect(stage.effects()).toHaveLength(outcomes.size);
  return {
    'the output of a tool': pick(outcomes, 'output'),
    'the error of a tool': pick(outcomes, 'error'),
    'the progress of a tool': pick(outcomes, 'progress'),
    'the result of a task': pick(outcomes, 'summary'),
  };
}

/** An answer of an HTTP tool, as bytes. */
export async function playOutputBytes() {
  const { port, served } = await serveItems();
  const stage = await startStage({
    tools: fetchTool(port),
    reply: (row, { results }) =>
      results.length > 0
        ? { text: [`told ${results.join()}`] }
        : callsOf('', { name: 'fetch_page', arguments: { kind: 'json', row } }),
  });
  const outcomes = await playAll(JSONS, async (_item, row) => {
    const thread = stage.begin(row);
    await thread.click(CAST.alice, /Approval needed: Fetch page/, 'approve');
    const card = await thread.shows(/(Done|Outcome unknown|Ran, with an unusable result): Fetch page/);
    if (/^Outcome unknown/.test(card.text)) return 'in doubt, and people are asked';
    const told = await thread.shows(/told /);
    const [problem] = /not JSON|over the limit|nested more than/.exec(told.text) ?? [];
    if (/"status":"ran"/.test(told.text)) return `done, and its output is refused: ${problem}`;
    return shownAs(PAYLOAD, await stage.detailsOf(CAST.bruno, card)) === 'shown as it is'
      ? 'shown, and told as data'
      : 'cut, and said so';
  });
  await stage.expectUnharmed();
  expect(served).toHaveLength(outcomes.size);
  return { 'the bytes of an output': outcomes };
}

/** The descriptions of tools by a module, an HTTP tool and an MCP server, and the names a server and a model use. */
export async function playDescriptions() {
  const folder = mkdtempSync(join(tmpdir(), 'described-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  // What is longer than a model reads is offered in a channel of its own.
  const isHuge = (text: string) => text.length > 100_000;
  const tools = TEXTS.flatMap(({ text }, row) => {
    const file = join(folder, `tool-${row}.ts`);
    const define = `import { defineTool } from ${JSON.stringify(here('../../../src/agent/define-tool.ts'))};`;
    const config = `{ name: 'module_${row}', description: ${JSON.stringify(text)}, inputSchema: { type: 'object' } }`;
    writeFileSync(file, `${define}\nexport const tool = defineTool(${config}, () => 'called');\n`);
    const allow = isHuge(text) ? `, allow: { channels: [${PLACES.releases}] }` : '';
    const short = isHuge(text) ? text.slice(0, 20_000) : text;
    return [
      `  module_${row}: { module: ${file}${allow} }\n`,
      `  http_${row}: { description: ${quoteForYaml(short)}, http: { method: GET, url: "https://api.example/" }${allow} }\n`,
    ];
  });
  const args = JSON.stringify(['--import', 'tsx', here('../fixtures/hostile-server.ts')]);
  const server = `  server: { mcp: { command: ${JSON.stringify(process.execPath)}, args: ${args} } }\n`;
  const stage = await startStage({
    tools: [...tools, server].join(''),
    reply: (row, { results }) =>
      results.length > 0
        ? { text: [`told ${results.join('\n')}`] }
        : callsOf(
            '',
            { name: `module_${row}`, arguments: {} },
            { name: `http_${row}`, arguments: {} },
            { name: `mcp_${row}`, arguments: {} },
            { name: TEXTS[row]?.text ?? '', arguments: {} },
          ),
  });
  const problems = stage.bot.toolbox.problems();
  const outcomes = await playAll(TEXTS, async ({ text }, row) => {
    const thread = stage.begin(row, '', isHuge(text) ? PLACES.releases : PLACES.general);
    const describe = async (kind: string) => {
      const card = await thread.shows(new RegExp(`Approval needed: ${kind} ${row}\\b`, 'i'));
      const words = shownAs(
        text,
        card.blocks.filter((block) => DESCRIBED.test(JSON.stringify(block))),
      );
      await stage.withdraw(card);
      return words;
    };
    const [inModule, http, mcp] = [await describe('module'), await describe('http'), await describe('mcp')];
    const { text: told } = await thread.shows(/told /);
    const isLeftOut = problems.some((problem) => problem.startsWith(`server: ${text}: `));
    return {
      module: inModule,
      http,
      mcp,
      name: isLeftOut ? 'left out' : 'taken',
      invented: /Not run: there is no tool/.test(told) ? 'refused: there is no such tool' : told,
    };
  });
  await stage.expectUnharmed();
  return {
    'the description of a module': pick(outcomes, 'module'),
    'the description of an HTTP tool': pick(outcomes, 'http'),
    'the description of an MCP tool': pick(outcomes, 'mcp'),
    'the name of an MCP tool': pick(outcomes, 'name'),
    'the name of a tool that the model invents': pick(outcomes, 'invented'),
  };
}

/** The outcome or error on a settled card: a quote for text, a box for data. */
function shownIn(text: string, blocks: unknown): string {
  const outcome = [...quotesIn(blocks), ...boxesIn(blocks)].slice(-1);
  const notes = nodesIn(blocks).filter((node) => node.type === 'rich_text_section');
  return shownAs(text, [outcome, notes]);
}
