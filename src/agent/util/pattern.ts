import { RE2JS } from 're2js';

/** Keeps the values that were used last, up to a number of them. */
export class BoundedCache<Value extends object> {
  readonly #values = new Map<string, Value>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the value of a key, made now if it is not there; one that cannot be made is not kept. */
  get(key: string, make: () => Value): Value {
    const value = this.#values.get(key) ?? make();
    // A map keeps the order in which its keys were set.
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#most) {
      const [oldest] = this.#values.keys();
      if (oldest !== undefined) this.#values.delete(oldest);
    }
    return value;
  }
}

/** A compiled regular expression. Its time grows with the length of the text only, whatever the expression is. */
interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/** The most instructions of a compiled pattern. */
const MAX_INSTRUCTIONS = 10_000;
/** The most steps of one test, some 300 ms: the length of the text times the instructions. */
const MAX_STEPS = 10_000_000;
const REMEMBERED = 500;

const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|\(\?<?[=!]|\(|\)|\{(\d+)(?:,(\d*))?\}|./gsu;
const compiled = new BoundedCache<Pattern>(REMEMBERED);

/** A text that cannot be tested in a short time. */
export class TextTooLong extends Error {}

/** Compiles a pattern in the syntax of RE2, which CEL prescribes; one that RE2 cannot express throws. */
export function re2Pattern(source: string): Pattern {
  return compiled.get(source, () => linear(source, source));
}

/**
 * Compiles a pattern in the syntax of JavaScript, which JSON Schema prescribes. Lookaheads right after the `^` are tested on their own;
 * any other one, a lookbehind or a backreference throws.
 */
export function jsonSchemaPattern(source: string): Pattern {
  // What JavaScript refuses is refused first: RE2 reads some of it in another way.
  new RegExp(source, 'u');
  const { conditions, rest } = leadingLookaheads(source);
  const tests = conditions.map(({ isWanted, of }) => ({
    isWanted,
    pattern: translated(`^(?:${of})`, source),
  }));
  const last = translated(rest, source);
  return {
    test: (text) =>
      tests.every(({ isWanted, pattern }) => pattern.test(text) === isWanted) && last.test(text),
    toString: () => source,
  };
}

function translated(source: string, whole: string): Pattern {
  return linear(RE2JS.translateRegExp(source), whole);
}

function linear(source: string, whole: string): Pattern {
  if (instructionsOf(source) > MAX_INSTRUCTIONS) throw new Error(`the pattern "${whole}" is too large`);
  const pattern = compileRe2(source, whole);
  const perLetter = pattern.programSize();
  return {
    test(text) {
      if (text.length * perLetter > MAX_STEPS)
        throw new TextTooLong(`the text is too long for the pattern "${whole}"`);
      return pattern.test(text);
    },
    toString: () => whole,
  };
}

function compileRe2(source: string, whole: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (cause) {
    const reason =
      cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, '') : String(cause);
    throw new Error(
      `the pattern "${whole}" cannot be used: ${reason}; patterns have the syntax of RE2, without lookarounds and backreferences`,
      { cause },
    );
  }
}

/** Estimates the instructions of a pattern before it is compiled: a repetition by numbers is written out. */
function instructionsOf(source: string): number {
  let open = { total: 0, last: 0 };
  const around: (typeof open)[] = [];
  for (const [token, least = '', most = ''] of source.matchAll(TOKEN)) {
    if (token.startsWith('(')) {
      around.push(open);
      open = { total: 1, last: 0 };
    } else if (token === ')') {
      const { total } = open;
      open = around.pop() ?? { total: 0, last: 0 };
      open = { total: open.total + total, last: total };
    } else if (least !== '') {
      const repeated = open.last * Math.max(1, Number(least), Number(most));
      open = { total: open.total - open.last + repeated, last: repeated };
    } else open = { total: open.total + 1, last: 1 };
  }
  return around.reduce((sum, { total }) => sum + total, open.total);
}

interface Lookahead {
  readonly isWanted: boolean;
  readonly of: string;
}

/** Splits `^(?!a)(?=b)c` into its conditions and `^c`. Alternatives beside them would not all have the conditions. */
function leadingLookaheads(source: string): {
  readonly conditions: readonly Lookahead[];
  readonly rest: string;
} {
  const whole = { conditions: [], rest: source };
  if (!/^\^\(\?[=!]/.test(source)) return whole;
  const conditions: Lookahead[] = [];
  let depth = 0;
  let start = 1;
  let isLeading = true;
  for (const { 0: token, index } of source.slice(1).matchAll(TOKEN)) {
    const at = index + 1;
    if (token.startsWith('(')) {
      if (depth === 0) isLeading &&= at === start && /^\(\?[=!]$/.test(token);
      depth += 1;
    } else if (token === ')') {
      depth -= 1;
      if (depth === 0 && isLeading) {
        conditions.push({ isWanted: source[start + 2] === '=', of: source.slice(start + 3, at) });
        start = at + 1;
      }
    } else if (depth === 0) {
      if (token === '|') return whole;
      isLeading = false;
    }
  }
  return { conditions, rest: `^${source.slice(start)}` };
}
