import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../agent/json.ts';
import { effectiveInput } from '../../agent/schema/compile-schema.ts';
import { editorOf } from '../../tools/gate.ts';
import type { Presentation } from '../../tools/presentation/presentation.ts';
import type { Facet } from './facet.ts';
import { inputWords } from './input-words.ts';

const Change = z.object({ label: z.string(), before: z.string(), after: z.string() });
const Edit = z.object({
  /** The person who changed the arguments last. */
  by: z.string().min(1),
  /** The arguments that the edit changed, as the card writes them. */
  changes: z.array(Change),
});

/** The edit of a call: who changed its arguments, and what. */
export const edit = {
  name: 'edit',
  schema: Edit,
  isOfStep: true,
  prepare: ({ editor, entry, call, input }, { words }) => {
    if (editor === undefined || entry === undefined) return undefined;
    // A default that the model left out is no change.
    const effective = (given: JsonValue) => effectiveInput(entry.tool.inputSchema, given);
    const before = effective(call.toolRequest.input);
    return { by: editor, changes: changesOf(entry.presentation, before, effective(input), words.none) };
  },
  digested: (kept, interrupt) => ({ edited_by: editorOf(interrupt), changes: kept?.changes }),
} satisfies Facet<'edit', z.infer<typeof Edit>>;

/** Lists the arguments that differ between two inputs, each as the card writes it. */
function changesOf(
  presentation: Presentation,
  before: JsonValue,
  after: JsonValue,
  none: string,
): z.infer<typeof Change>[] {
  if (!isJsonObject(before) || !isJsonObject(after)) return [];
  const { label, write } = inputWords(presentation);
  const valueIn = (input: JsonObject, name: string) => (Object.hasOwn(input, name) ? input[name] : undefined);
  const told = (name: string, value: JsonValue | undefined): string => {
    if (value === undefined) return none;
    return write([name], value) ?? (typeof value === 'string' ? value : JSON.stringify(value));
  };
  /** Values that read the same, such as a number and its digits, are told apart by their quotes. */
  const sides = (name: string) => {
    const values = [valueIn(before, name), valueIn(after, name)];
    const [first = '', second = ''] = values.map((value) => told(name, value));
    if (first !== second) return { before: first, after: second };
    const [left = none, right = none] = values.map((value) =>
      value === undefined ? undefined : JSON.stringify(value),
    );
    return { before: left, after: right };
  };
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => ({ label: label([name]) ?? name, ...sides(name) }));
}
