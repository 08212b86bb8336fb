import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCycles, readImports, type SourceFile } from '../test/support/imports.ts';

/**
 * Prints how many concepts the source has: verbs, scripts, key kinds, folders that import each other, circles, small files,
 * the functions on the way of a click, lines.
 * `npm run structure -- DIR` measures another checkout.
 */
const args = process.argv.slice(2);
const root = args.find((arg) => !arg.startsWith('--')) ?? fileURLToPath(new URL('..', import.meta.url));

interface Measured extends SourceFile {
  readonly lines: number;
}

function filesBelow(folder: string, endings: readonly string[]): string[] {
  return readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => endings.some((ending) => path.endsWith(ending)) && !path.includes('/node_modules/'))
    .sort();
}

function textOf(path: string): string {
  return readFileSync(`${root}/${path}`, 'utf8');
}

function linesOf(path: string): number {
  return textOf(path).split('\n').length - 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const source: readonly Measured[] = filesBelow('src', ['.ts', '.tsx']).map((path) => ({
  path,
  lines: linesOf(path),
  imports: readImports(path, textOf(path)),
}));
const lua = filesBelow('src', ['.lua']);
const tests = filesBelow('test', ['.ts', '.tsx', '.mjs']);

/** Counts the methods of every interface of the store's ports. */
function countVerbs(): number {
  const ports = source.filter(({ path }) => path.startsWith('src/store/port/'));
  return sum(
    ports.map(({ path }) => {
      const interfaces = textOf(path).matchAll(/^export interface \w*Store\b[^{]*\{\n([\s\S]*?)^\}/gm);
      return sum([...interfaces].map(([, body = '']) => [...body.matchAll(/^ {2}\w+\(/gm)].length));
    }),
  );
}

/** Counts the kinds of keys that the one list of them names. */
function countKeyKinds(): number {
  const text = textOf('src/store/record/keys.ts');
  const lists = [...text.matchAll(/^(?:export )?const [A-Z_]*KEYS = \[([\s\S]*?)\]/gm)].map(
    ([, list = '']) => list,
  );
  const built = [...text.matchAll(/#of\((?:[^,()]*, )?'(\w+)'/g), ...text.matchAll(/#key\('(\w+)'/g)].map(
    ([, name = '']) => name,
  );
  const names = lists.flatMap((list) => [...list.matchAll(/'([\w-]+)'/g)].map(([, name = '']) => name));
  return new Set([...names, ...built]).size;
}

/** Names the folder directly below `parent` that holds a file; a file beside the folders stands for itself. */
function folderIn(parent: string, path: string): string | undefined {
  if (!path.startsWith(parent)) return undefined;
  return path.slice(parent.length).split('/')[0];
}

interface Folders {
  readonly names: readonly string[];
  readonly arrows: ReadonlyMap<string, ReadonlySet<string>>;
}

function foldersOf(parent: string): Folders {
  const arrows = new Map<string, Set<string>>();
  for (const { path, imports } of source) {
    const from = folderIn(parent, path);
    if (from === undefined) continue;
    const targets = arrows.get(from) ?? new Set();
    arrows.set(from, targets);
    for (const { target } of imports) {
      const to = folderIn(parent, target);
      if (to !== undefined && to !== from) targets.add(to);
    }
  }
  return { names: [...arrows.keys()], arrows };
}

function mutualPairs({ names, arrows }: Folders): string[] {
  return names.flatMap((one) =>
    names
      .filter((other) => one < other && arrows.get(one)?.has(other) && arrows.get(other)?.has(one))
      .map((other) => `${one} <-> ${other}`),
  );
}

/** Lists files under 60 lines that exactly one other file of the source imports. */
function smallSingles(): string[] {
  const importers = new Map<string, Set<string>>();
  for (const { path, imports } of source)
    for (const { target } of imports) importers.set(target, (importers.get(target) ?? new Set()).add(path));
  return source
    .filter(({ path, lines }) => lines < 60 && importers.get(path)?.size === 1)
    .map(({ path }) => path);
}

/** Returns the functions on a way, as the page lists them; a test compares that list with a real run. */
function wayIn(heading: string): readonly string[] {
  const [, section = ''] = textOf('docs/how-it-works.md').split(`### ${heading}\n`);
  const [own = ''] = section.split(/^#/m);
  return own.split('\n').filter((line) => /^\d+\. /.test(line));
}

const bot = foldersOf('src/bot/');
const whole = foldersOf('src/');
const botPairs = mutualPairs(bot);
const wholePairs = mutualPairs(whole);
const cycles = findCycles(source, { types: true });
const singles = smallSingles();
const toCard = wayIn('From a message to its card');
const toEffect = wayIn('From a click to its effect');
const isDetailed = args.includes('--details');
const rows: readonly (readonly [string, string | number, (readonly string[])?])[] = [
  ['store verbs', countVerbs()],
  ['Lua scripts (beside what they share)', lua.filter((path) => !path.includes('/lib/')).length],
  ['key kinds', countKeyKinds()],
  ['folders and files directly in src/bot', bot.names.length],
  ['pairs of folders in src/bot that import each other', botPairs.length, botPairs],
  ['pairs of folders in src that import each other', wholePairs.length, wholePairs],
  ['import circles, type imports counted', cycles.length, cycles],
  ['files under 60 lines that one file imports', singles.length, singles],
  ['functions from a message to its card', toCard.length, toCard],
  ['functions from a click to its effect', toEffect.length, toEffect],
  ['lines of src (TypeScript and Lua)', sum(source.map(({ lines }) => lines)) + sum(lua.map(linesOf))],
  ['files of src', source.length + lua.length],
  ['folders of src', new Set([...source.map(({ path }) => path), ...lua].map(dirname)).size],
  ['lines of test', sum(tests.map(linesOf))],
];
for (const [name, value, details = []] of rows) {
  process.stdout.write(`| ${name} | ${value} |\n`);
  if (isDetailed) for (const detail of details) process.stdout.write(`    ${detail}\n`);
}
