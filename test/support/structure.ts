import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findCycles, readImports, type SourceFile } from './imports.ts';

/** One number about the source, with the names of what it counts. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  readonly details: readonly string[];
}

interface Measured extends SourceFile {
  readonly text: string;
  readonly lines: number;
}

/** A function with a name, from its first line to its last. */
export interface MeasuredFunction {
  readonly name: string;
  readonly lines: number;
}

/** The line that opens a named function: a declaration, a method that is not called, or an arrow that a name is given to. */
const OPENS =
  /^( *)(?:export |static |get |set |async )*(?:function\*? +(\w+)|(?:const|let) (\w+)[^=]*= (?:async )?(?:\(|<|\w+ =>)|(?!(?:if|for|while|switch|return|catch|super)\b)([#\w]+)(?:<[^>]*>)?\((?!.*\)[;,]?$)|([#\w]+)(?:: | = )(?:async )?(?:\(|\w+ =>))/;

/** Finds the functions of a formatted file: each ends where a line with its own indentation closes it, so no parser is needed. */
export function readFunctions(text: string): MeasuredFunction[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const opened = OPENS.exec(line);
    if (opened === null) return [];
    const [, indent = '', ...names] = opened;
    const rest = lines.slice(at + 1);
    const after = rest.findIndex((next) => next !== '' && !isWithin(next, indent));
    if (after === -1) return [];
    const end = rest[after]?.slice(indent.length) ?? '';
    const isClosed = /^[)\]}]/.test(end);
    // A method ends with its brace alone, a call that begins like one does not.
    if (opened[4] !== undefined && !/^\},?$/.test(end)) return [];
    return [{ name: names.find((name) => name !== undefined) ?? '', lines: after + (isClosed ? 2 : 1) }];
  });
}

/** Tells whether a line is inside a function of that indentation, or goes on with its head. */
function isWithin(line: string, indent: string): boolean {
  if (line.startsWith(`${indent} `)) return true;
  return line.startsWith(indent) && /^[)\]}].*(?:[{([]|=>)$/.test(line.slice(indent.length));
}

/** Names the folder directly below `parent` that holds a file; a file beside the folders stands for itself. */
function folderIn(parent: string, path: string): string | undefined {
  if (!path.startsWith(parent)) return undefined;
  return path.slice(parent.length).split('/')[0];
}

/** Names the pairs of folders, or files, directly below a folder that import each other. */
export function mutualPairs(files: readonly SourceFile[], parent: string): string[] {
  const arrows = new Set<string>();
  for (const { path, imports } of files)
    for (const { target } of imports) arrows.add(`${folderIn(parent, path)} ${folderIn(parent, target)}`);
  return [...arrows].flatMap((arrow) => {
    const [from = '', to = ''] = arrow.split(' ');
    const isPair = from < to && to !== 'undefined' && from !== 'undefined' && arrows.has(`${to} ${from}`);
    return isPair ? [`${from} <-> ${to}`] : [];
  });
}

/** Counts the key paths of the manifest below its sections, and the sections; `slack` is Slack's own. */
export function manifestKeyPaths(page: string): string[] {
  let section = '';
  return page.split('\n').flatMap((line) => {
    const [, heading] = /^## (\w+)$/.exec(line) ?? [];
    if (heading !== undefined) section = heading;
    const [, field] = /^\| (?:\*\*)?`([^`]+)`/.exec(line) ?? [];
    return heading !== undefined ? [heading] : field !== undefined ? [`${section}.${field}`] : [];
  });
}

/** Names the kinds of document: the groups that the calls of `DocumentStore` name, in the file itself or by a constant. */
export function documentKinds(text: string): string[] {
  const calls = text.matchAll(/\b(?:read|write)Document\(\s*(?:'([\w-]+)'|(?:\.\.\.)?(\w+))/g);
  return [...calls].flatMap(([, literal, name = '']) => {
    if (literal !== undefined) return [literal];
    // A group that is built begins with a constant: `account:` and the name of a server.
    const constant = new RegExp(`const ${name} =[^'\`]*?(?:'([\\w-]+)'|\`\\$\\{(\\w+)\\})`).exec(text);
    const [, value, prefix] = constant ?? [];
    if (value !== undefined) return [value];
    return new RegExp(`const ${prefix} = '([\\w-]+):'`).exec(text)?.slice(1) ?? [];
  });
}

/** Measures how many concepts a checkout has; these numbers may only fall. */
export function measureStructure(root: string): Measure[] {
  const textOf = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');
  const linesOf = (path: string): number => textOf(path).split('\n').length - 1;
  const filesBelow = (folder: string, endings: readonly string[]): string[] =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => endings.some((ending) => path.endsWith(ending)) && !path.includes('/node_modules/'))
      .sort();
  const source = filesBelow('src', ['.ts', '.tsx']).map((path): Measured => {
    const text = textOf(path);
    return { path, text, lines: linesOf(path), imports: readImports(path, text) };
  });
  const lua = filesBelow('src', ['.lua']);
  const tests = filesBelow('test', ['.ts', '.tsx', '.mjs']);
  const [ways, keys] = [textOf('docs/how-it-works.md'), textOf('src/store/port/keys.ts')];
  const fields = textOf('docs/manifest-fields.md');
  const scripts = lua.filter((path) => !path.includes('/lib/'));

  return [
    list('store verbs', source.flatMap(verbsIn)),
    list('Lua scripts (beside what they share)', scripts),
    list('scripts that start a call', scripts.filter(isNamed('start', 'start-effect', 'count-call'))),
    list('scripts that finish a call', scripts.filter(isNamed('finish', 'finish-effect'))),
    list('key kinds', keyKinds(keys)),
    list('kinds of document', [...new Set(source.flatMap(({ text }) => documentKinds(text)))]),
    list(
      'models that do not read what they are asked',
      source.filter(hasFakeModel).map(({ path }) => path),
    ),
    list('manifest key paths', manifestKeyPaths(fields)),
    ...functionMeasures(source),
    ...importMeasures(source),
    list('folders and files directly in src/bot', foldersIn(source, 'src/bot/')),
    ...['src/bot/', 'src/tools/', 'src/store/', 'src/'].map((parent) =>
      list(`pairs of folders in ${parent.slice(0, -1)} that import each other`, mutualPairs(source, parent)),
    ),
    list('import circles, type imports counted', findCycles(source, { types: true })),
    list('files under 60 lines that one file imports', smallSingles(source)),
    list('functions from a message to its card', wayIn(ways, 'From a message to its card')),
    list('functions from a click to its effect', wayIn(ways, 'From a click to its effect')),
    number(
      'lines of src (TypeScript and Lua)',
      sum([...source.map(({ path }) => path), ...lua].map(linesOf)),
    ),
    number('files of src', source.length + lua.length),
    number('folders of src', new Set([...source.map(({ path }) => path), ...lua].map(dirname)).size),
    number('lines of test', sum(tests.map(linesOf))),
  ];
}

function list(name: string, details: readonly string[]): Measure {
  return { name, value: details.length, details };
}

function number(name: string, value: number, details: readonly string[] = []): Measure {
  return { name, value, details };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Names the methods of every interface of the store's ports. */
function verbsIn({ path, text }: Measured): string[] {
  if (!path.startsWith('src/store/port/')) return [];
  const interfaces = text.matchAll(/^export interface \w*Store\b[^{]*\{\n([\s\S]*?)^\}/gm);
  return [...interfaces].flatMap(([, body = '']) =>
    [...body.matchAll(/^ {2}(\w+)\(/gm)].map(([, name = '']) => name),
  );
}

/** Names the kinds of keys that the one list of them has. */
function keyKinds(text: string): string[] {
  const lists = [...text.matchAll(/^(?:export )?const [A-Z_]*KEYS = \[([\s\S]*?)\]/gm)];
  const names = lists.flatMap(([, names = '']) => [...names.matchAll(/'([\w-]+)'/g)]);
  const built = [...text.matchAll(/#of\((?:[^,()]*, )?'(\w+)'/g), ...text.matchAll(/#key\('(\w+)'/g)];
  return [...new Set([...names, ...built].map(([, name = '']) => name))];
}

function isNamed(...names: readonly string[]): (path: string) => boolean {
  return (path) => names.some((name) => path.endsWith(`/${name}.lua`));
}

/** Tells whether a file has a model that makes up its reply: it plays a chat that is none. */
function hasFakeModel({ text }: Measured): boolean {
  return /\breply: (?:async )?\(\) =>|\breply\(\) \{/.test(text);
}

const LONG = 100;

function functionMeasures(source: readonly Measured[]): Measure[] {
  const all = source
    .flatMap(({ path, text }) =>
      readFunctions(text).map(({ name, lines }) => ({ lines, row: `${lines} ${name} in ${path}` })),
    )
    .sort((one, other) => other.lines - one.lines);
  const long = all.filter(({ lines }) => lines > LONG).map(({ row }) => row);
  const [largest] = all;
  return [
    list(`functions over ${LONG} lines`, long),
    number('lines of the largest function', largest?.lines ?? 0, [largest?.row ?? '']),
  ];
}

function importMeasures(source: readonly Measured[]): Measure[] {
  // The entry of the package imports all that it exports.
  const rows = source
    .filter(({ path }) => path !== 'src/index.ts')
    .map(({ path, imports }) => ({ path, count: imports.length }))
    .sort((one, other) => other.count - one.count);
  const largest = (name: string, of: typeof rows): Measure =>
    number(
      name,
      of[0]?.count ?? 0,
      of.slice(0, 5).map(({ path, count }) => `${count} ${path}`),
    );
  const isWiring = (path: string): boolean => /^src\/(?:workspace\/)?[^/]+$/.test(path);
  return [
    largest('imports of the largest file', rows),
    largest(
      'imports of the largest file outside the wiring',
      rows.filter(({ path }) => !isWiring(path)),
    ),
  ];
}

function foldersIn(source: readonly Measured[], parent: string): string[] {
  return [...new Set(source.flatMap(({ path }) => folderIn(parent, path) ?? []))];
}

/** Lists files under 60 lines that exactly one other file of the source imports. */
function smallSingles(source: readonly Measured[]): string[] {
  const importers = new Map<string, Set<string>>();
  for (const { path, imports } of source)
    for (const { target } of imports) importers.set(target, (importers.get(target) ?? new Set()).add(path));
  return source
    .filter(({ path, lines }) => lines < 60 && importers.get(path)?.size === 1)
    .map(({ path }) => path);
}

/** Returns the functions on a way, as the page lists them; a test compares that list with a real run. */
function wayIn(page: string, heading: string): readonly string[] {
  const [, section = ''] = page.split(`### ${heading}\n`);
  const [own = ''] = section.split(/^#/m);
  return own.split('\n').filter((line) => /^\d+\. /.test(line));
}
