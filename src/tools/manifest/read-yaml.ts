import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { type JsonValue, pointerTo } from '../../agent/json.ts';
import { type ManifestProblem, SourceMap } from './problem.ts';

const MAX_FILE_LENGTH = 256 * 1024;
const MAX_DEPTH = 40;
const NESTED_TOO_DEEP = `the file nests deeper than ${MAX_DEPTH} levels`;
const MAX_VALUES = 20_000;
const MAX_SYNTAX_PROBLEMS = 10;
/** Matches characters that change the direction of text or are invisible; a byte order mark may begin a file. */
const HIDDEN =
  /[\u00AD\u061C\u115F\u1160\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\u3164\uFFA0\u{E0000}-\u{E007F}]|(?<!^)\uFEFF/gu;

export type YamlFile =
  | {
      readonly ok: true;
      readonly value: JsonValue;
      readonly positions: SourceMap;
      readonly problems: ManifestProblem[];
    }
  | { readonly ok: false; readonly problems: ManifestProblem[] };

/** The state of a copy of the document into plain JSON. */
interface Copying {
  readonly anchors: Map<string, unknown>;
  readonly positions: SourceMap;
  readonly report: (offset: number, pointer: string, message: string) => void;
  count: number;
}

class TooMuch extends Error {}

/** Reads YAML into plain JSON with its source positions. Any text gives a value or problems, never an exception. */
export function readYaml(text: string, file: string): YamlFile {
  const whole = (message: string): YamlFile => ({
    ok: false,
    problems: [{ file, line: 1, column: 1, path: '', message }],
  });
  if (text.length > MAX_FILE_LENGTH) {
    return whole(`the file has ${text.length} characters; a manifest has at most ${MAX_FILE_LENGTH}`);
  }
  const lines = new LineCounter();
  const positions = new SourceMap(text, lines);
  let document: Document.Parsed;
  try {
    // Keys are compared below: the library's own comparison takes quadratic time.
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  } catch {
    return whole(NESTED_TOO_DEEP);
  }
  // One mistake is reported once, in the words of its first error.
  const syntax = [...document.errors, ...document.warnings].filter(
    ({ pos }, index, all) => all.findIndex((other) => other.pos[0] === pos[0]) === index,
  );
  const problems: ManifestProblem[] = [];
  const report = (offset: number, pointer: string, message: string): void => {
    problems.push({ file, ...positions.at(offset), path: positions.nameOf(pointer), message });
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no text file contains these.
  const binary = text.search(/[\u0000-\u0008\u000e-\u001f\ufffd]/);
  if (binary !== -1) {
    report(binary, '', 'the file is not plain text in UTF-8; save it as such');
    return { ok: false, problems };
  }

  // A reviewer must see what the file says: "prod" with a hidden character in it is not "prod".
  for (const { index, 0: hidden } of text.matchAll(HIDDEN)) {
    const code = (hidden.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    report(
      index,
      '',
      `there is an invisible character here (U+${code}); remove it, or write it as an escape`,
    );
    if (problems.length === MAX_SYNTAX_PROBLEMS) break;
  }
  if (problems.length > 0) return { ok: false, problems };

  // A line that is indented wrongly makes those after it look wrong as well.
  const indented = syntax.filter(({ code }) => code === 'BAD_INDENT' || code === 'TAB_AS_INDENT');
  for (const { code, message, pos } of (indented.length > 0 ? indented : syntax).slice(
    0,
    MAX_SYNTAX_PROBLEMS,
  )) {
    const spaces = code === 'BAD_INDENT' ? /^ */.exec(text.slice(pos[0]))?.[0].length : 0;
    report(pos[0] + (spaces ?? 0), '', syntaxMessage(code, message));
  }
  if (syntax.length > 0) return { ok: false, problems };
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) {
    return whole('the file is empty; a manifest has the keys agent, policies and tools');
  }
  try {
    const value = copy(document.contents, '', 0, { anchors: new Map(), positions, report, count: 0 });
    return { ok: true, value, positions, problems };
  } catch (error) {
    if (!(error instanceof TooMuch)) return whole('the file cannot be read as YAML');
    return whole(error.message);
  }
}

function syntaxMessage(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS')
    return 'a manifest is one document; remove the line "---" and everything after it';
  if (message.includes('call stack')) return NESTED_TOO_DEEP;
  if (code === 'TAG_RESOLVE_FAILED') return `${message}; a manifest needs no tags`;
  const advice = message.startsWith('Flow') ? undefined : ADVICE.get(code);
  return `this is not valid YAML: ${message}${advice === undefined ? '' : `; ${advice}`}`;
}

/** Says what to do about the syntax errors that are hard to understand. */
const ADVICE = new Map([
  ['TAB_AS_INDENT', 'use spaces'],
  ['BAD_INDENT', 'indent it with as many spaces as the lines beside it'],
  [
    'BLOCK_AS_IMPLICIT_KEY',
    'put a text with ": " in quotes, or check the indentation of this line and the next',
  ],
  ['MISSING_CHAR', 'check the quotes, brackets and colons here, and the indentation of this line'],
]);

function copy(node: unknown, pointer: string, depth: number, copying: Copying): JsonValue {
  copying.count += 1;
  if (copying.count > MAX_VALUES) {
    throw new TooMuch(`the file has more than ${MAX_VALUES} values once its aliases are written out`);
  }
  if (depth > MAX_DEPTH) throw new TooMuch(NESTED_TOO_DEEP);
  if (isAlias(node)) {
    const target = copying.anchors.get(node.source);
    if (target === undefined) {
      copying.report(node.range?.[0] ?? 0, pointer, `the alias *${node.source} names no anchor before it`);
      return null;
    }
    return copy(target, pointer, depth + 1, copying);
  }
  if ((isMap(node) || isSeq(node) || isScalar(node)) && node.anchor !== undefined) {
    copying.anchors.set(node.anchor, node);
  }
  if (isMap(node)) return copyMap(node, pointer, depth, copying);
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const at = pointerTo(pointer, index);
      copying.positions.add(at, { key: undefined, value: startOf(item) ?? startOf(node) ?? 0, isItem: true });
      return copy(item, at, depth + 1, copying);
    });
  }
  return isScalar(node) ? plain(node.value) : null;
}

function copyMap(
  node: { readonly items: readonly { readonly key: unknown; readonly value: unknown }[] },
  pointer: string,
  depth: number,
  copying: Copying,
): JsonValue {
  const entries = new Map<string, JsonValue>();
  for (const { key, value } of node.items) {
    const start = startOf(key) ?? 0;
    if (!isScalar(key) || key.value === null) {
      copying.report(start, pointer, 'a key must be plain text; put a value that begins with { in quotes');
      continue;
    }
    const name = String(key.value);
    const at = pointerTo(pointer, name);
    if (entries.has(name)) {
      copying.report(start, at, `"${name}" appears twice here; keep one`);
      continue;
    }
    if (name === '__proto__') {
      copying.report(start, at, '"__proto__" cannot be a key');
      continue;
    }
    copying.positions.add(at, { key: start, value: startOf(value) ?? start, isItem: false });
    entries.set(name, copy(value, at, depth + 1, copying));
  }
  return Object.fromEntries(entries);
}

/** Returns the offset where a node begins; a value that is left out has none. */
function startOf(node: unknown): number | undefined {
  if (!(isScalar(node) || isMap(node) || isSeq(node) || isAlias(node))) return undefined;
  const [start, end] = node.range ?? [0, 0];
  return start === end ? undefined : start;
}

function plain(value: unknown): JsonValue {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}
