import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runOnce } from '../gate/support.ts';
import { temporaryFolder } from '../mcp/support.ts';
import { actionIn, manifestOf, openTools, writeModule } from './support.ts';

const BUILT_INS = ['ask_question', 'request_form', 'wait_for_callback', 'complete_task', 'propose_plan'];
const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

test('a module that cannot be loaded is reported by name, and the others stay', async () => {
  const folder = temporaryFolder();
  writeModule(folder, 'good.ts', 'good');
  writeFileSync(join(folder, 'empty.ts'), 'export const nothing = 1;\n');
  writeFileSync(join(folder, 'broken.ts'), "throw new Error('cannot be');\n");
  const toolbox = await openTools(
    manifestOf(`
  good: { module: ./good.ts }
  missing: { module: ./missing.ts }
  empty: { module: ./empty.ts }
  broken: { module: ./broken.ts }
`),
    { folder },
  );
  expect(toolbox.problems()).toEqual([
    'missing: there is no file ./missing.ts',
    expect.stringMatching(/^empty: \.\/empty\.ts exports no tool/),
    'broken: cannot be',
  ]);
  expect(toolbox.warnings).toEqual(toolbox.problems());
  expect(names(toolbox.tools())).toEqual([...BUILT_INS, 'good']);
});

test('a name that is taken is reported, and the first tool of that name stays', async () => {
  const folder = temporaryFolder();
  writeModule(folder, 'first.ts', 'same', "return 'first';");
  writeModule(folder, 'second.ts', 'same', "return 'second';");
  writeModule(folder, 'question.ts', 'ask_question');
  const never = 'approval: { require: never }';
  const toolbox = await openTools(
    manifestOf(`
  first: { module: ./first.ts, ${never} }
  second: { module: ./second.ts, ${never} }
  question: { module: ./question.ts, ${never} }
`),
    { folder },
  );
  expect(toolbox.problems()).toEqual([
    'second: the name "same" belongs to "first", so the tool of "second" is offered to nobody; give it another name or the server a prefix',
    'question: the name "ask_question" is taken; it is left out',
  ]);
  expect(await runOnce(actionIn(toolbox, 'same'), {})).toMatchObject({ toolResponse: { output: 'first' } });
  expect(toolbox.find('ask_question')?.source).toBe('built-in');
});

test('a tool that a mistyped limit leaves without one is offered to nobody', async () => {
  const folder = temporaryFolder();
  for (const name of ['refund', 'greet']) writeModule(folder, `${name}.ts`, name);
  const toolbox = await openTools(
    manifestOf(`
  refund: { module: ./refund.ts }
  greet: { module: ./greet.ts }
limits:
  refnd: { window: 1d, max: 5 }
  greet: { window: 1d, max: 5 }
  "deploy_*": { window: 1d, max: 5 }
`),
    { folder },
  );
  expect(toolbox.problems()).toEqual([
    'refund: refund: "limits" has "refnd", which is no tool and may mean this one, so it is offered to nobody; correct the name in "limits"',
    'limits: there is no tool "deploy_*"',
  ]);
  expect(names(toolbox.tools())).toEqual([...BUILT_INS, 'greet']);
});

test('a tool is offered only in the channels and to the people that the manifest allows', async () => {
  const folder = temporaryFolder();
  for (const name of ['everywhere', 'here', 'hers', 'both']) writeModule(folder, `${name}.ts`, name);
  const toolbox = await openTools(
    manifestOf(`
  everywhere: { module: ./everywhere.ts }
  here: { module: ./here.ts, allow: { channels: [C0GENERAL1] } }
  hers: { module: ./hers.ts, allow: { people: [U0RITA0001] } }
  both: { module: ./both.ts, allow: { channels: [C0GENERAL1], people: [U0RITA0001] } }
`),
    { folder },
  );
  const offered = (channel: string, requester: string, ...others: string[]) =>
    names(toolbox.toolsFor({ channel, requester, others })).filter((name) => !BUILT_INS.includes(name));
  expect(offered('C0GENERAL1', 'U0RITA0001')).toEqual(['everywhere', 'here', 'hers', 'both']);
  expect(offered('C0GENERAL1', 'U0OTHER001')).toEqual(['everywhere', 'here']);
  expect(offered('C0OTHER001', 'U0RITA0001')).toEqual(['everywhere', 'hers']);
  expect(offered('C0OTHER001', 'U0OTHER001')).toEqual(['everywhere']);
  expect(offered('C0GENERAL1', 'U0RITA0001', 'U0OTHER001')).toEqual(['everywhere', 'here']);
  expect(toolbox.notice({ channel: 'C0OTHER001', requester: 'U0OTHER001' })).not.toMatch(
    /- (here|hers|both):/,
  );
});

test.each([
  ['d'.repeat(1024), 'd'.repeat(1024)],
  ['d'.repeat(1025), `${'d'.repeat(1023)}…`],
  [`${'d'.repeat(1022)}🍋🍋`, `${'d'.repeat(1022)}…`],
])('a long description is cut between characters (%#)', async (description, cut) => {
  const http = 'http: { method: GET, url: "https://example.com/" }';
  const toolbox = await openTools(manifestOf(`  ping: { description: "${description}", ${http} }\n`));
  expect(toolbox.find('ping')?.tool.description).toBe(cut);
});

test('a built-in that is switched off is not there, and one may be limited to the requester', async () => {
  const manifest = manifestOf('  {}\n');
  const builtIns = {
    ...manifest.agent.builtIns,
    wait_for_callback: 'off',
    request_form: 'requester',
  } as const;
  const toolbox = await openTools({ ...manifest, agent: { ...manifest.agent, builtIns } });
  expect(names(toolbox.tools())).toEqual(['ask_question', 'request_form', 'complete_task', 'propose_plan']);
  const asks = async (name: string, input: object) => {
    const tool = toolbox.find(name)?.tool;
    return tool?.kind === 'interrupt' ? tool.requestMetadata?.(input) : undefined;
  };
  const form = { title: 'Report', fields: { type: 'object', properties: {} } };
  expect(await asks('request_form', form)).toMatchObject({ ask: { by: 'requester', way: { kind: 'form' } } });
  expect(await asks('ask_question', { question: 'Why?' })).toMatchObject({ ask: { by: 'anyone' } });
});

test('modules of one manifest share what they import, and a reload reads it anew', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const shared = (name: string) => `let uses = 0;\nexport const next = () => \`${name} \${++uses}\`;\n`;
  writeFileSync(join(folder, 'shared.ts'), shared('old'));
  for (const name of ['first', 'second', 'third']) {
    writeModule(folder, `${name}.ts`, name, 'return next();');
    const file = join(folder, `${name}.ts`);
    writeFileSync(file, `import { next } from './shared.ts';\n${readFileSync(file, 'utf8')}`);
  }
  const declare = (name: string) => `  ${name}: { module: ./${name}.ts, approval: { require: never } }\n`;
  const toolbox = await openTools(manifestOf(declare('first') + declare('second')), { folder });
  const outputOf = async (name: string) => {
    const part = await runOnce(actionIn(toolbox, name), {});
    return 'toolResponse' in part ? part.toolResponse.output : part;
  };
  expect([await outputOf('first'), await outputOf('second')]).toEqual(['old 1', 'old 2']);
  writeFileSync(join(folder, 'shared.ts'), shared('new'));
  await toolbox.replace(manifestOf(declare('first') + declare('third')));
  expect([await outputOf('first'), await outputOf('third')]).toEqual(['new 1', 'new 2']);
});

test('the time limit of a module in the manifest takes precedence over that of its definition', async () => {
  const folder = temporaryFolder();
  const body =
    'await new Promise((resolve) => signal.addEventListener("abort", resolve)); throw new Error("cut");';
  writeModule(folder, 'slow.ts', 'slow', body);
  const file = join(folder, 'slow.ts');
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text
      .replace('async ()', 'async (_, { signal })')
      .replace("name: 'slow'", "name: 'slow', timeoutMs: 3_600_000"),
  );
  const declared = '  slow: { module: ./slow.ts, timeout: 1s, approval: { require: never } }\n';
  const toolbox = await openTools(manifestOf(declared), { folder });
  expect(JSON.stringify(await runOnce(actionIn(toolbox, 'slow'), {}))).toContain(
    'did not finish within 1000 ms',
  );
});
