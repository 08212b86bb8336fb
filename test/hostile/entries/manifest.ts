import { expect } from 'vitest';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';
import { type HostileText, JSONS, TEXTS } from '../corpus.ts';

const SLACK = 'slack: { display_information: { name: Countersign } }\n';
const POLICY = 'policies: { default: { approvers: [U012ABCDEF] } }\n';

/** Reads a manifest, and tells that it was taken or which was the first thing wrong with it. */
function read(text: string): string {
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
  if (parsed.ok) return 'taken as data';
  const [first = ''] = parsed.problems.map(formatProblem);
  expect(first).toMatch(/^manifest\.yml:\d+:\d+: /);
  const known = [
    'invisible character',
    'not plain text',
    'is not valid YAML',
    'a manifest has at most',
    'appears twice',
    '__proto__',
    'nests deeper',
    'a name of 1 to 64',
  ];
  return `refused: ${known.find((words) => first.includes(words)) ?? first}`;
}

/** In the manifest: as it is, in quotes with escapes, and as the name of a tool and of a policy. */
export async function playManifests() {
  const outcomes = (place: (item: HostileText) => string) =>
    new Map(TEXTS.map((item): [string, string] => [item.name, read(place(item))]));
  const block = (text: string) =>
    text
      .split('\n')
      .map((line) => `    ${line}`)
      .join('\n');
  const tool = (text: string) => `${JSON.stringify(text)}: { module: ./tools/a.ts }`;
  const post = (json: string) =>
    `{ description: Posts., http: { method: POST, url: "https://api.example/", body: ${json} } }`;
  const policy = (text: string) => `${JSON.stringify(text)}: { approvers: [U012ABCDEF] }`;
  return {
    'the manifest, as it is': outcomes(({ text }) => `${SLACK}agent:\n  instructions: |2\n${block(text)}\n`),
    'the manifest, in escapes': outcomes(
      ({ text }) => `${SLACK}agent: { instructions: ${quoteForYaml(text)} }\n`,
    ),
    'the name of a tool in the manifest': outcomes(({ text }) => `${SLACK}tools: { ${tool(text)} }\n`),
    'the name of a policy in the manifest': outcomes(({ text }) => `${SLACK}policies: { ${policy(text)} }\n`),
    'the bytes of the manifest': new Map(
      JSONS.map(({ name, json }): [string, string] => [
        name,
        read(`${SLACK}${POLICY}tools: { post: ${post(json)} }\n`),
      ]),
    ),
  };
}

/** A text in double quotes with every character that is not plain ASCII as an escape. */
export function quoteForYaml(text: string): string {
  const units = text.replace(
    /[^\x20-\x7E]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${units.replace(/\\(?!u[0-9a-f]{4})|"/g, '\\$&')}"`;
}
