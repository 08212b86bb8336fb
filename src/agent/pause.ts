import { z } from 'zod';
import { describeError, notDone } from './errors.ts';
import { type JsonObject, toJson } from './json.ts';
import { compileSchema, type Schema } from './schema/compile-schema.ts';
import type { CompiledSchema } from './schema/json-schema.ts';

/** One way to answer a pause. Words alone give the tool `{ choice: words }`. */
export type PauseChoice<Resumed = object> =
  | string
  | {
      readonly label: string;
      /** The part of `resumed` that this choice gives the tool. */
      readonly resumed: Partial<Resumed>;
    };

/** The words with which a tool asks in the middle of a call. Any other key is kept as it is, for the code that resumes. */
export interface PauseRequest<Resumed = object> {
  /** The question, in the tool's own words. Alone, it asks for a yes or a no. */
  readonly message?: string;
  /** The answers to choose from. */
  readonly choices?: readonly PauseChoice<Resumed>[];
  /** Whether people may answer in their own words as well. */
  readonly allowOther?: boolean;
  /** The schema of a form; its values are what the tool is resumed with. */
  readonly form?: Schema;
  /** Waits for a report of another system, which fits the schema `result`; people see the link. */
  readonly callback?: { readonly result?: Schema; readonly link?: string };
}

/** The most choices of a pause; no menu in Slack has room for more. */
export const MOST_CHOICES = 100;

/** A schema of any library, which is compiled below. */
const SchemaObject = z.custom<Schema>((value) => typeof value === 'object' && value !== null, 'is no schema');
const Label = z.string().refine((label) => label.trim() !== '', 'is empty');
const Words = z.looseObject({
  message: Label.optional(),
  choices: z
    .array(z.union([Label, z.strictObject({ label: Label, resumed: z.record(z.string(), z.unknown()) })]), {
      error: 'is no list',
    })
    .min(1, 'is empty, so nobody could answer')
    .max(MOST_CHOICES, `has more than ${MOST_CHOICES} entries; ask with a form, or in two steps`)
    .optional(),
  allowOther: z.boolean().optional(),
  form: SchemaObject.optional(),
  callback: z
    .strictObject({
      result: SchemaObject.optional(),
      link: z.url({ protocol: /^https?$/, normalize: true, error: 'is no web address' }).optional(),
    })
    .optional(),
});

/** The parts of a tool by which its pauses are checked. */
interface PausingTool {
  readonly name: string;
  readonly resumedSchema?: CompiledSchema | undefined;
}

/**
 * Turns what a tool asks into plain JSON, with schemas as JSON Schema. A tool that pauses has done nothing yet, so a pause that nobody could
 * answer is an error by which the call has failed.
 */
export function toPauseMetadata(asks: unknown, tool: PausingTool): JsonObject | undefined {
  if (asks === undefined) return undefined;
  const refuse = (problem: string): never => {
    throw notDone(new TypeError(`Tool "${tool.name}": interrupt(): ${problem}`));
  };
  const read = Words.safeParse(asks);
  if (!read.success) {
    const [issue] = read.error.issues;
    const at = issue?.path.join('.') ?? '';
    return refuse(at === '' ? 'takes an object' : `"${at}" ${issue?.message ?? 'cannot be used'}`);
  }
  const { choices, form, callback } = read.data;
  const ways = Object.entries({ choices, form, callback }).filter(([, way]) => way !== undefined);
  if (ways.length > 1) refuse(`takes one of ${ways.map(([name]) => `"${name}"`).join(' and ')}, not both`);
  const labels = (choices ?? []).map((choice) => (typeof choice === 'string' ? choice : choice.label));
  const twice = labels.find((label, index) => labels.findIndex((other) => isSame(other, label)) !== index);
  if (twice !== undefined) refuse(`two choices have the label "${twice}"; nobody could tell them apart`);
  for (const choice of choices ?? []) {
    if (typeof choice === 'string') continue;
    const problem = resumedProblem(tool, choice.resumed);
    if (problem !== undefined) refuse(`the choice "${choice.label}" does not fit resumedSchema${problem}`);
  }
  const toJsonSchema = (schema: Schema, at: string): JsonObject => {
    try {
      return compileSchema(schema, tool.name, 'form').jsonSchema;
    } catch (error) {
      return refuse(`"${at}" is no schema that can be used: ${describeError(error)}`);
    }
  };
  return Object.fromEntries([
    ...Object.entries(read.data).map(([name, value]) => [name, toJson(value)] as const),
    ...(form === undefined ? [] : [['form', toJsonSchema(form, 'form')] as const]),
    ...(callback === undefined
      ? []
      : [
          [
            'callback',
            {
              ...(callback.result !== undefined && {
                result: toJsonSchema(callback.result, 'callback.result'),
              }),
              ...(callback.link !== undefined && { link: callback.link }),
            },
          ] as const,
        ]),
  ]);
}

function isSame(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}

/** Tells where the answer of a choice does not fit; a value that another pause gives may be missing. */
function resumedProblem({ resumedSchema }: PausingTool, given: Readonly<Record<string, unknown>>) {
  const parsed = resumedSchema?.parse(given);
  if (parsed?.ok !== false) return undefined;
  const [property = ''] = parsed.field.split('.');
  if (property !== '' && !Object.hasOwn(given, property)) return undefined;
  return `${parsed.field === '' ? '' : ` at "${parsed.field}"`}: ${parsed.problem}`;
}
