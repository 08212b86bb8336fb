import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../src/agent/json.ts';
import { type CompiledSchema, compileJsonSchema } from '../src/agent/schema/json-schema.ts';
import { fail, newTally, type Suite } from './suite.ts';

const Groups = z.array(
  z.object({
    description: z.string(),
    schema: z.custom<JsonValue>(),
    tests: z.array(z.object({ description: z.string(), data: z.unknown(), valid: z.boolean() })),
  }),
);
const DRAFTS = new Map([
  ['draft2020-12', {}],
  ['draft7', { $schema: 'http://json-schema.org/draft-07/schema#' }],
]);

/** Why we are stricter than the suite: what it lets pass does not fit. */
const STRICTER: readonly (readonly [RegExp, string])[] = [
  [/only an annotation/, 'stricter: a format is checked'],
  [/ref overrides any sibling/, 'stricter: keywords beside `$ref` are checked in draft 7 too'],
];
/** Why a schema is refused when its tool is defined. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/is not supported: it cannot be checked exactly/, 'refused: it cannot be checked exactly'],
  [/can't resolve reference|no schema with key or ref/, 'refused: a reference to another document'],
  [/cannot be used/, 'refused: a pattern that RE2 does not have'],
  [/non-empty array/, 'refused: an empty `enum`'],
  [/an object is expected/, 'refused: the schema of an input is an object'],
];

export const jsonSchema: Suite = {
  name: 'JSON-Schema-Test-Suite, 2020-12 and draft 7, required',
  source: 'json-schema-org/JSON-Schema-Test-Suite at 44401e0c0467',
  hole: 'nothing is required',
  given: 'json-schema',
  async run({ isLoosened, folder }) {
    const tally = newTally();
    for (const [draft, dialect] of DRAFTS) {
      const tests = join(folder, 'tests', draft);
      for (const file of readdirSync(tests).filter((name) => name.endsWith('.json'))) {
        for (const group of Groups.parse(JSON.parse(readFileSync(join(tests, file), 'utf8')))) {
          const compiled = compile(group.schema, dialect, isLoosened);
          for (const { description, data, valid } of group.tests) {
            const name = `${draft}/${file}: ${group.description}, ${description}`;
            if ('refused' in compiled)
              fail(tally, `${name}: ${compiled.refused}`, reasonOf(REFUSED, compiled.refused));
            else if (compiled.parse(data).ok === valid) tally.passed += 1;
            else fail(tally, name, valid ? reasonOf(STRICTER, name) : undefined);
          }
        }
      }
    }
    return tally;
  },
};

function compile(
  schema: JsonValue,
  dialect: JsonObject,
  isLoosened: boolean,
): CompiledSchema | { readonly refused: string } {
  if (!isJsonObject(schema)) return { refused: 'an object is expected' };
  const { required, ...rest } = schema;
  const loosened = isLoosened || required === undefined ? rest : { ...rest, required };
  try {
    return compileJsonSchema({ ...dialect, ...loosened });
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

function reasonOf(reasons: readonly (readonly [RegExp, string])[], text: string): string | undefined {
  return reasons.find(([pattern]) => pattern.test(text))?.[1];
}
