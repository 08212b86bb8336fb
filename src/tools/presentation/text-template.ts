import { isJsonObject, type JsonObject, type JsonValue } from '../../agent/json.ts';
import { FORMAT_NAMES, type FormatCall, formatArgumentProblem, formatValue } from './formats.ts';

/** The values that a template can name. */
export type TemplateRoot = 'input' | 'output' | 'preview' | 'requester';

const ROOTS: readonly TemplateRoot[] = ['input', 'output', 'preview', 'requester'];

/** A value in a template: `{{input.amount | money('USD', 'cents')}}`. */
export interface Placeholder {
  readonly root: TemplateRoot;
  readonly path: readonly string[];
  readonly format: FormatCall | undefined;
  /** The offset of its start in the text. */
  readonly offset: number;
}

/** A text for people, split into literal parts and values. */
export type DisplayTemplate = readonly (string | Placeholder)[];

/** A mistake in a template, at an offset of its text. */
export interface TemplateProblem {
  readonly offset: number;
  readonly message: string;
  /** The name that is not known, and those that are, so that the nearest one can be suggested. */
  readonly unknown?: { readonly written: string; readonly known: readonly string[] };
}

const DELIMITER = /(\{\{[^{}]*\}\})/;
const PLACEHOLDER =
  /^\{\{\s*(input|output|preview|requester)((?:\.[\w-]+)*)\s*(?:\|\s*([A-Za-z]\w*)\s*(?:\(\s*((?:'[^']*'\s*(?:,\s*'[^']*'\s*)*)?)\))?\s*)?\}\}$/;

/** Parses a template; `problems` lists everything in it that cannot be used. */
export function parseDisplayTemplate(text: string): {
  readonly template: DisplayTemplate;
  readonly problems: readonly TemplateProblem[];
} {
  const problems: TemplateProblem[] = [];
  const template: (string | Placeholder)[] = [];
  let offset = 0;
  for (const part of text.split(DELIMITER)) {
    const [, written, path = '', name, args = ''] = PLACEHOLDER.exec(part) ?? [];
    const root = ROOTS.find((each) => each === written);
    if (root !== undefined) {
      const format = name === undefined ? undefined : { name, args: quotedIn(args) };
      const problem = format && formatProblem(format);
      if (problem !== undefined)
        problems.push({ offset: offset + part.indexOf(name ?? '', part.indexOf('|')), ...problem });
      template.push({ root, path: path.split('.').slice(1), format, offset });
    } else if (part.includes('{{')) {
      const message = `"${part.slice(part.indexOf('{{')).slice(0, 40)}" is not a placeholder; write {{input.name}} or {{input.name | format}}`;
      problems.push({ offset: offset + part.indexOf('{{'), message });
    } else if (part !== '') template.push(part);
    offset += part.length;
  }
  return { template, problems };
}

function quotedIn(args: string): string[] {
  return [...args.matchAll(/'([^']*)'/g)].map(([, text = '']) => text);
}

function formatProblem(format: FormatCall): Omit<TemplateProblem, 'offset'> | undefined {
  if (!FORMAT_NAMES.includes(format.name))
    return {
      message: `there is no format "${format.name}"`,
      unknown: { written: format.name, known: FORMAT_NAMES },
    };
  const message = formatArgumentProblem(format);
  return message === undefined ? undefined : { message };
}

/** The values of one rendering, and the names of people by id. */
export interface TemplateValues {
  readonly input: JsonValue;
  readonly output?: JsonValue;
  /** The values of the preview that people approved. */
  readonly preview?: JsonValue;
  /** The id and the address of the person who asked, to find an approver. */
  readonly requester?: JsonValue;
  readonly names?: ReadonlyMap<string, string>;
}

/** The text of a value that is missing. */
export const MISSING = '(none)';

/** Fills a template with values as they are. */
export function fillDisplayTemplate(template: DisplayTemplate, values: TemplateValues): string {
  return template
    .map((part) => {
      if (typeof part === 'string') return part;
      const value = placeholderValue(part, values);
      if (value === undefined) return MISSING;
      return formatValue(value, part.format);
    })
    .join('');
}

/** Tells whether every value that a template names is missing. */
export function isWithoutValues(template: DisplayTemplate, values: TemplateValues): boolean {
  const named = placeholdersIn(template);
  return named.length > 0 && named.every((part) => placeholderValue(part, values) === undefined);
}

export function placeholdersIn(template: DisplayTemplate): Placeholder[] {
  return template.flatMap((part) => (typeof part === 'string' ? [] : [part]));
}

export function placeholderValue({ root, path }: Placeholder, values: TemplateValues): JsonValue | undefined {
  return valueAt(values[root], path);
}

/** Returns the value at a path, among own properties only. */
export function valueAt(given: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((value, name) => {
    if (isJsonObject(value)) return Object.hasOwn(value, name) ? value[name] : undefined;
    if (!Array.isArray(value) || !/^\d+$/.test(name)) return undefined;
    const item: JsonValue | undefined = value[Number(name)];
    return item;
  }, given);
}

/** Lists the inputs of a template, or the parts of an answer, that the schema of a tool does not have. */
export function unknownInputs(
  template: DisplayTemplate,
  schema: JsonObject,
  of: 'input' | 'output' = 'input',
): TemplateProblem[] {
  return placeholdersIn(template).flatMap(({ root, path, offset }) => {
    if (root !== of) return [];
    const unknown = unknownIn(schema, path);
    if (unknown === undefined) return [];
    const { written, known } = unknown;
    const what = of === 'input' ? 'the input' : 'the answer';
    return [{ offset, message: `${what} has no "${written}"`, unknown: { written, known } }];
  });
}

/** Lists the paths of an answer that a template names and that it does not have. */
export function missingOutputs(template: DisplayTemplate, values: TemplateValues): readonly string[] {
  return placeholdersIn(template).flatMap((part) =>
    part.root === 'output' && placeholderValue(part, values) === undefined ? [part.path.join('.')] : [],
  );
}

const COMPOSED = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties'];

/** Walks a path through a schema; a schema that only a value can decide about is taken to have it. */
function unknownIn(
  schema: JsonObject,
  path: readonly string[],
): { readonly written: string; readonly known: readonly string[] } | undefined {
  let node: JsonValue | undefined = schema;
  for (const [depth, name] of path.entries()) {
    if (!isJsonObject(node)) return undefined;
    const { properties, items }: JsonObject = node;
    if (isJsonObject(properties) && Object.hasOwn(properties, name)) node = properties[name];
    else if (COMPOSED.some((keyword) => isJsonObject(node) && Object.hasOwn(node, keyword))) return undefined;
    else if (isJsonObject(properties))
      return { written: path.slice(0, depth + 1).join('.'), known: Object.keys(properties) };
    else if (/^\d+$/.test(name)) node = items;
    else return undefined;
  }
  return undefined;
}
