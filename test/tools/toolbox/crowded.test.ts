import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkTools } from '../../../src/commands/checks/check-tools.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import type { Finding } from '../../../src/tools/manifest/problem.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';
import { temporaryFolder } from '../mcp/support.ts';
import { manifestOf, openTools } from './support.ts';

const HERE = { channel: 'C0GENERAL1', requester: 'U0REMI0001' };
const THERE = { ...HERE, channel: 'C0PARTNER1' };
const BUILT_INS = ['ask_question', 'request_form', 'wait_for_callback', 'complete_task'];
const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

/** An MCP server with so many tools, as an entry of a manifest. */
function serverOf(name: string, count: number, folder: string, rest = ''): string {
  const tools = Array.from({ length: count }, (_, index) => ({
    name: `${name}_${index}`,
    inputSchema: { type: 'object' },
  }));
  const results = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name, version: '1' },
    },
    'tools/list': { tools },
  };
  writeFileSync(
    join(folder, `${name}.mjs`),
    `import { createInterface } from 'node:readline';
const results = ${JSON.stringify(results)};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
}
`,
  );
  return `  ${name}:\n    mcp: { command: node, args: [./${name}.mjs] }\n${rest}`;
}

describe('more tools than a model takes', () => {
  test('are cut at 128 in the order of the manifest, and the log and doctor name what is left out', async () => {
    const folder = temporaryFolder();
    const manifest = manifestOf(`${serverOf('first', 120, folder)}${serverOf('second', 16, folder)}`);
    const toolbox = await openTools(manifest, { folder });
    const offered = namesOf(toolbox.toolsFor(HERE));
    expect(offered).toHaveLength(128);
    expect(offered.slice(0, 4)).toEqual(BUILT_INS);
    expect(offered.at(-1)).toBe('second_2');
    const problem =
      'a model takes at most 128 tools at once; left out where there are more: second_3, second_4, second_5, second_6, second_7, second_8, second_9, second_10, second_11, second_12 and 3 more; remove tools from the manifest, or limit with "allow" where they are used';
    expect(toolbox.warnings).toEqual([`second: ${problem}`]);
    // A request that has waited since before still finds its tool.
    expect(toolbox.find('second_15')).toBeDefined();
    const locate = (finding: Finding) => ({ ...finding, file: '', line: 1, column: 1, path: '' });
    expect(await checkTools({ manifest, written: {}, folder, secrets: [], locate }, {})).toContainEqual(
      expect.objectContaining({ check: 'tool second', status: 'failed', message: problem }),
    );

    await toolbox.replace(manifestOf(serverOf('first', 120, folder)));
    expect(toolbox.problems()).toEqual([]);
  });

  test('may be declared as long as no place has them all', async () => {
    const folder = temporaryFolder();
    const only = (channel: string) => `    allow: { channels: [${channel}] }\n`;
    const tools = [
      serverOf('here', 100, folder, only(HERE.channel)),
      serverOf('there', 100, folder, only(THERE.channel)),
    ];
    const toolbox = await openTools(manifestOf(tools.join('')), { folder });
    expect(toolbox.problems()).toEqual([]);
    expect([HERE, THERE].map((place) => toolbox.toolsFor(place).length)).toEqual([105, 105]);

    const crowded = serverOf('more', 30, folder, only(THERE.channel));
    await toolbox.replace(manifestOf([...tools, crowded].join('')));
    expect(toolbox.toolsFor(THERE)).toHaveLength(128);
    expect(toolbox.problems()).toEqual([expect.stringMatching(/^more: .* more_23, .*, more_29;/)]);
  });
});

describe('a manifest that has more tools by itself', () => {
  const problemsOf = (count: number, { agent = '', rest = '' } = {}) => {
    const tools = Array.from(
      { length: count },
      (_, index) => `  tool_${index}: { module: ./tools.ts${rest} }\n`,
    );
    const text = `slack: { display_information: { name: Countersign } }\npolicies: { default: { approvers: [U0ALICE001] } }\n${agent}tools:\n${tools.join('')}`;
    const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
    return parsed.ok ? [] : parsed.problems.map(formatProblem);
  };

  test('is a mistake at the first tool that is too many', () => {
    expect(problemsOf(123)).toEqual([]);
    expect(problemsOf(126)).toEqual([
      'manifest.yml:127:3: tools.tool_123: a model takes at most 128 tools at once, built-ins among them, and this is one too many of 126; remove some, or limit with "allow" where they are used',
    ]);
  });

  test('has more room without built-ins, and none is taken by what is not used everywhere', () => {
    const agent = 'agent: { plans: false, built_ins: [wait_for_callback, complete_task] }\n';
    expect(problemsOf(126, { agent })).toEqual([]);
    expect(problemsOf(127, { agent })).toHaveLength(1);
    expect(problemsOf(200, { rest: ', allow: { channels: [C0GENERAL1] }' })).toEqual([]);
  });
});
