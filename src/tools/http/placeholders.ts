import { DefinitionError } from '../../agent/errors.ts';
import { isJsonObject, type JsonValue } from '../../agent/json.ts';

/** The way to one input: `{{input.order.id}}` is `['order', 'id']`. */
export type InputPath = readonly string[];

/** A text cut into what stands as it is and what an input replaces. */
export type TextTemplate = readonly (string | InputPath)[];

/** What an input may hold in the middle of a text. */
export type Scalar = string | number | boolean;

const MARK = /(\{\{[^{}]*\}\})/;
const PLACEHOLDER = /^\{\{\s*input((?:\.[\w-]+)+)\s*\}\}$/;

/** Cuts a text at its `{{input.name}}` placeholders; anything else in double braces is a mistake, never sent as it is. */
export function parseTemplate(text: string): TextTemplate {
  return text
    .split(MARK)
    .filter((part) => part !== '')
    .map((part) => {
      const [, path] = PLACEHOLDER.exec(part) ?? [];
      if (path !== undefined) return path.slice(1).split('.');
      if (!part.includes('{{')) return part;
      const written = part.slice(part.indexOf('{{'), part.indexOf('{{') + 40);
      throw new DefinitionError(
        'invalid-option',
        `"${written}" is not a placeholder; write {{input.name}}, or {{input.name.inner}} for what lies inside it`,
      );
    });
}

/** Lists the inputs that a template names, in its texts and however deep in its tree, each once. */
export function placeholdersOf(template: JsonValue): readonly InputPath[] {
  const found = new Map<string, InputPath>();
  const visit = (value: JsonValue): void => {
    if (typeof value === 'string') {
      for (const part of parseTemplate(value)) if (typeof part !== 'string') found.set(part.join('.'), part);
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(template);
  return [...found.values()];
}

/** The one path of a text that is nothing but a placeholder, whose value keeps its type. */
export function wholePlaceholder(template: TextTemplate): InputPath | undefined {
  const [only, ...others] = template;
  return others.length === 0 && typeof only === 'object' ? only : undefined;
}

/** Finds what the caller gave at a path, among own properties only; `undefined` is what was not given. */
export function valueAt(input: JsonValue, path: InputPath): JsonValue | undefined {
  let value: JsonValue | undefined = input;
  for (const name of path) {
    if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else if (Array.isArray(value) && /^\d+$/.test(name)) value = value[Number(name)];
    else return undefined;
  }
  return value;
}
