import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../src/agent/json.ts';
import { SLASH_WORDS } from '../src/bot/inbox/commands.ts';
import { openApi } from '../src/door/openapi.ts';
import { METRICS } from '../src/observe/metrics-table.ts';
import { DIGEST_PARTS, DIGEST_VERSION } from '../src/policy/digest.ts';
import { AUDIT_EVENTS } from '../src/store/port/audit-events.ts';
import { ROW_VERSION } from '../src/store/record/audit-row.ts';
import { manifestJsonSchema } from '../src/tools/manifest/schema/manifest-file.ts';
import {
  BUILT_IN_FIELDS,
  COVERED_VERSION,
  ENTRY_FIELDS,
  fieldLines,
  POLICY_FIELDS,
} from '../src/tools/toolbox/covered-fields.ts';
import { helpOf, listedCommands, settingNames } from './reference-pages.ts';

/** The parts of the contract of docs/stability.md that are made from the source, by their files in `contract/`. */
export async function contract(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['rest.txt', linesOf(leavesOf(toJson(openApi())))],
    ['manifest.txt', linesOf(leavesOf(manifestSchema()))],
    ['metrics.txt', linesOf(Object.entries(METRICS).map(metricLine))],
    ['events.txt', linesOf(Object.entries(AUDIT_EVENTS).map(eventLine))],
    [
      'commands.txt',
      linesOf(await Promise.all((await listedCommands()).map(({ name }) => commandLines(name)))),
    ],
    ['settings.txt', linesOf(settingNames())],
    ['digest.txt', linesOf(digestLines())],
    ['slack.txt', linesOf(SLASH_WORDS.map((word) => `/countersign ${word}`))],
  ]);
}

/** Returns the part of the manifest's schema that is ours; Slack's own may grow when Slack's does. */
function manifestSchema(): JsonObject {
  const { properties, definitions: _slack, ...rest } = manifestJsonSchema();
  return { ...rest, properties: isJsonObject(properties) ? { ...properties, slack: {} } : {} };
}

/** Writes the types of the library without their comments; `folder` has the declarations that a user can reach. */
export function libraryTypes(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.d.ts'),
  );
  const texts = files.toSorted().map((path) => {
    const text = readFileSync(join(folder, path), 'utf8').replaceAll(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '');
    return `// ${path.replaceAll('\\', '/')}\n${text.trim()}\n`;
  });
  return texts.join('\n');
}

function metricLine([name, { kind, labels }]: [string, (typeof METRICS)[keyof typeof METRICS]]): string {
  return [kind, name, ...labels].join(' ');
}

function eventLine([name, body]: [string, readonly string[]]): string {
  return [`v${ROW_VERSION}`, name, ...body].join(' ');
}

/** Names what an approval is bound to: the parts of the digest, and what two of them cover. */
function digestLines(): string[] {
  return [
    ...DIGEST_PARTS.map((part) => `v${DIGEST_VERSION} call ${part}`),
    ...Object.entries({ policy: POLICY_FIELDS, tool: ENTRY_FIELDS, 'built-in': BUILT_IN_FIELDS }).flatMap(
      ([of, fields]) => [...fieldLines(fields, `v${COVERED_VERSION} ${of}`)],
    ),
  ];
}

/** Lists every value of a document with its path, so that each line stands for itself. */
function leavesOf(value: JsonValue, path = ''): string[] {
  if (value === null || typeof value !== 'object') return [`${path}: ${JSON.stringify(value)}`];
  const entries = Object.entries(value);
  if (entries.length === 0) return [`${path}: ${JSON.stringify(value)}`];
  // What is only explained may be explained better.
  return entries.flatMap(([key, entry]) => {
    const isExplanation = ['description', 'summary', 'title'].includes(key) && typeof entry === 'string';
    return isExplanation ? [] : leavesOf(entry, `${path} ${key}`);
  });
}

/** Writes how a command is called and what its exit codes mean. */
async function commandLines(name: string): Promise<string> {
  const help = await helpOf(...name.split(' '));
  const usage = /^Usage: ([\s\S]*?)\n\n/.exec(help)?.[1] ?? '';
  const codes = /Exit code: ([\s\S]*?)(?:\n\n|$)/.exec(help)?.[1] ?? '';
  const options = [...help.matchAll(/^ +(--[a-z-]+(?: [A-Z:]+)?)/gm)].map(([, option = '']) => option);
  const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  return [name, `  ${oneLine(usage)}`, `  ${options.join(', ')}`, `  exit: ${oneLine(codes)}`].join('\n');
}

function linesOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

/** Says of each part that has changed what to do; `committed` are the files of the last release or change. */
export function contractProblems(
  now: ReadonlyMap<string, string>,
  committed: (file: string) => string | undefined,
): readonly string[] {
  return [...now].flatMap(([file, text]) => {
    const before = committed(file);
    if (before === text) return [];
    const [gone, added] = [without(before ?? '', text), without(text, before ?? '')];
    const shown = [...gone.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)].slice(0, 10);
    const isBreaking = gone.length > 0;
    return [
      `contract/${file} is not what the source says:\n${shown.join('\n')}\n${isBreaking ? BREAKING : ADDING} Run "npm run schema" and commit contract/${file}.`,
    ];
  });
}

const BREAKING =
  'A line is gone, so somebody who relies on it breaks. Take the change back, or keep the old form beside it for as long as docs/stability.md says, and write under "Contract" in CHANGELOG.md what changes, for whom, and until when the old form works.';
const ADDING = 'Write under "Contract" in CHANGELOG.md what is new.';

function without(text: string, other: string): string[] {
  const known = new Set(other.split('\n'));
  return text.split('\n').filter((line) => !known.has(line));
}
