import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readImports } from './support/imports.ts';
import {
  documentKinds,
  manifestKeyPaths,
  measureStructure,
  mutualPairs,
  readFunctions,
} from './support/structure.ts';

/** The most of each that the source may have. A change that needs fewer lowers its number here. */
const MOST: readonly (readonly [string, number])[] = [
  ['store verbs', 63],
  ['Lua scripts (beside what they share)', 41],
  ['scripts that start a call', 2],
  ['scripts that finish a call', 1],
  ['key kinds', 29],
  ['kinds of document', 20],
  ['models that do not read what they are asked', 0],
  ['manifest key paths', 291],
  ['functions over 100 lines', 0],
  ['lines of the largest function', 100],
  ['imports of the largest file', 25],
  ['imports of the largest file outside the wiring', 25],
  ['pairs of folders in src/bot that import each other', 0],
  ['pairs of folders in src/tools that import each other', 0],
  ['pairs of folders in src/store that import each other', 0],
  ['pairs of folders in src that import each other', 0],
  ['import circles, type imports counted', 0],
];

describe('the structure', () => {
  const measured = measureStructure(fileURLToPath(new URL('..', import.meta.url)));

  test.each(MOST)('there are no more %s than %i', (name, most) => {
    const { value, details } = measured.find((each) => each.name === name) ?? { value: Number.NaN };
    expect(value, details?.join('\n')).toBeLessThanOrEqual(most);
  });

  // Where one of these is 0, its count has found nothing and holds nothing.
  test.each(['store verbs', 'key kinds', 'kinds of document', 'manifest key paths', 'files of src'])(
    'the count of %s finds some',
    (name) => {
      expect(measured.find((each) => each.name === name)?.value).toBeGreaterThan(10);
    },
  );
});

describe('the measure', () => {
  test('a function goes from its first line to the line that closes it, its parameters included', () => {
    const text = [
      'export async function load(',
      '  path: string,',
      '): Promise<string> {',
      '  if (path === "") {',
      '    return "";',
      '  }',
      '',
      '  return path;',
      '}',
      'const short = (value: number) => value;',
      'class Box {',
      '  #open({',
      '    key,',
      '  }: Key): void {',
      '    turn(key, () => {',
      '      done();',
      '    });',
      '  }',
      '}',
      'const long = async (value: number) =>',
      '  value +',
      '  1;',
      'run();',
    ].join('\n');
    expect(readFunctions(text)).toEqual([
      { name: 'load', lines: 9 },
      { name: 'short', lines: 1 },
      { name: '#open', lines: 7 },
      { name: 'long', lines: 3 },
    ]);
  });

  test('two folders that import each other are a pair, once, and only inside the folder that is asked for', () => {
    const file = (path: string, text: string) => ({ path, imports: readImports(path, text) });
    const files = [
      file('src/tools/a/one.ts', "import type { B } from '../b/two.ts';"),
      file('src/tools/b/two.ts', "import { c } from '../c.ts';"),
      file('src/tools/b/three.ts', "import { one } from '../a/one.ts';"),
      file('src/tools/c.ts', "import { out } from '../out/four.ts';"),
      file('src/out/four.ts', "import { c } from '../tools/c.ts';"),
    ];
    expect(mutualPairs(files, 'src/tools/')).toEqual(['a <-> b']);
    expect(mutualPairs(files, 'src/')).toEqual(['out <-> tools']);
  });

  test('the kinds of document are found by their name, their constant and the constant that a name begins with', () => {
    const text = [
      "const GROUP = 'kept';",
      "const PLACE = ['door', 'callers'] as const;",
      "const ACCOUNTS = 'account:';",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a source file.
      'const groupOf = (server: string) => `${ACCOUNTS}${server}`;',
      "readDocument('lock', id);",
      'writeDocument(',
      '  GROUP,',
      'readDocument(...PLACE);',
      'readDocument(groupOf(server), person);',
    ].join('\n');
    expect(documentKinds(text)).toEqual(['lock', 'kept', 'door', 'account']);
  });

  test('a section of the manifest counts as a key, and so does each field', () => {
    const page =
      '## agent\n\n| field | type |\n| --- | --- |\n| `a` | string |\n| **`a.b[].c`** | string |\n';
    expect(manifestKeyPaths(page)).toEqual(['agent', 'agent.a', 'agent.a.b[].c']);
  });
});
