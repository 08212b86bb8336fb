import type { JsonValue } from '../../agent/json.ts';
import type { CompiledSchema } from '../../agent/schema/compile-schema.ts';
import { cut, showLine } from '../cards/values/show-text.ts';
import { limits } from '../slack/limits.ts';
import { modalTexts } from '../texts/modals.ts';
import { readField } from './fields/read-field.ts';
import { type Field, fieldsOf, WHOLE, wholeField } from './fields/schema-fields.ts';
import type { Submission } from './modal.ts';
import { parseModalState } from './modal-state.ts';

/** Parses a submitted form into a value that its schema accepts, or returns an error for each invalid input. */
export function parseSubmission(schema: CompiledSchema, values: unknown): Submission<JsonValue> {
  const inputs = parseModalState(values);
  const fields = inputs.has(WHOLE) ? [wholeField(schema.jsonSchema)] : fieldsOf(schema.jsonSchema);
  const errors: Record<string, string> = {};
  const entries: [name: string | undefined, value: JsonValue][] = [];
  for (const field of fields) {
    const entered = readField(field, inputs.get(field.blockId));
    if (!entered.ok) errors[field.blockId] = entered.problem;
    else if (entered.value !== undefined) entries.push([field.name, entered.value]);
    else if (field.isRequired) errors[field.blockId] = modalTexts.fillThisIn;
  }
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  const [only] = entries;
  const value =
    only !== undefined && only[0] === undefined
      ? only[1]
      : Object.fromEntries(entries.map(([name = '', entry]) => [name, entry]));
  const checked = schema.parse(value);
  if (checked.ok) return { ok: true, value };
  return { ok: false, errors: placeError(fields, checked.field, checked.problem) };
}

/** Assigns an error at a path to the input of its first property, or else to the first input. */
function placeError(
  fields: readonly Field[],
  path: string,
  problem: string,
): Readonly<Record<string, string>> {
  const [owner] = fields
    .filter(({ name }) => name !== undefined && (path === name || path.startsWith(`${name}.`)))
    .sort((left, right) => (right.name?.length ?? 0) - (left.name?.length ?? 0));
  const field = owner ?? fields[0];
  const rest = owner?.name === undefined ? path : path.slice(owner.name.length + 1);
  const message = rest === '' ? problem : `${rest}: ${problem}`;
  return { [field?.blockId ?? WHOLE]: cut(showLine(message), limits.errorText) };
}
