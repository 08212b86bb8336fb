import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { isJsonObject, type JsonValue, toJson } from '../../../src/agent/json.ts';
import { ManifestFile, manifestJsonSchema } from '../../../src/tools/manifest/schema/manifest-file.ts';

const root = new URL('../../..', import.meta.url);
const FILES = [
  'manifest.yml',
  'examples/helpdesk/manifest.yml',
  'examples/shop/manifest.yml',
  'examples/platform/manifest.yml',
];
const manifests = FILES.map((file) => {
  const written = toJson(parse(readFileSync(new URL(file, `${root}/`), 'utf8')));
  if (!isJsonObject(written)) throw new TypeError(`${file} is a mapping`);
  const { slack: _ofSlack, ...ours } = written;
  return ours;
});

const published = addFormats
  .default(new Ajv({ strict: false, allErrors: true, validateSchema: false, logger: false }))
  .compile(manifestJsonSchema());

/** Lists the places of a value, each as its path. */
function pathsOf(value: JsonValue, path: readonly string[] = []): (readonly string[])[] {
  const entries = isJsonObject(value) || Array.isArray(value) ? Object.entries(value) : [];
  return [path, ...entries.flatMap(([key, item]) => pathsOf(item, [...path, key]))];
}

/** Returns a value with another one at a path. */
function replaceAt(value: JsonValue, [key, ...others]: readonly string[], by: JsonValue): JsonValue {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item: JsonValue, index) =>
      String(index) === key ? replaceAt(item, others, by) : item,
    );
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([each, item]) => [each, each === key ? replaceAt(item, others, by) : item]),
  );
}

const ODD: readonly JsonValue[] = [
  ...['', ' ', 'x', '1h', 'U0AAAAAAA', 'https://example.com', 'not a url', '*', 'a b', '2026-02-30', '25:00'],
  ...[0, -1, 1.5, 1e21, true, false, null, [], {}, ['x', 'x'], { x: 1 }, [[]], [null]],
];

test.each(FILES.map((file, index) => [file, manifests[index] ?? {}] as const))(
  'what the published schema refuses in %s, the types refuse as well',
  (_file, manifest) => {
    expect(published(manifest)).toBe(true);
    expect(ManifestFile.safeParse(manifest).success).toBe(true);
    const places = pathsOf(manifest).filter((path) => path.length > 0);
    let refused = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        fc.constantFrom(...ODD),
        fc.constantFrom(...ODD.filter((value) => typeof value === 'string')),
        fc.boolean(),
        (path, value, key, adds) => {
          const inner = adds ? { [String(key)]: value } : value;
          const changed = replaceAt(manifest, path, inner);
          // Which of module, mcp and http a tool has is looked at by itself.
          if (published(changed) || published.errors?.every(({ schemaPath }) => /oneOf/.test(schemaPath)))
            return;
          refused += 1;
          expect(ManifestFile.safeParse(changed).success, JSON.stringify({ path, inner })).toBe(false);
        },
      ),
      { numRuns: 1_500 },
    );
    expect(refused).toBeGreaterThan(100);
  },
);
