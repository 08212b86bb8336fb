import { describeError } from '../../agent/errors.ts';
import { isDeeperThan, isJsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import type { Tool } from '../../agent/tool.ts';
import { readableName } from './readable-name.ts';
import {
  type DisplayTemplate,
  fillDisplayTemplate,
  isWithoutValues,
  type Placeholder,
  parseDisplayTemplate,
  placeholdersIn,
  placeholderValue,
  type TemplateValues,
} from './text-template.ts';

/** The texts of the manifest for the calls of a tool; each is a template over its input. */
export interface TextDeclaration {
  readonly title?: string | undefined;
  readonly done?: string | undefined;
  readonly target?: string | undefined;
  /** Templates by label, in the order of the file. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
}

/** A labelled value for people. */
export interface PresentedField {
  readonly label: string;
  readonly text: string;
  /** The format of a field that is one value; a place may show it in its own way. */
  readonly format?: string | undefined;
}

/** A call in words for people, as raw text: the place that shows it makes it harmless. */
export interface Presented {
  readonly title: string;
  /** The title after success. */
  readonly done?: string | undefined;
  /** The one value that says what the call touches. */
  readonly target?: string | undefined;
  readonly fields: readonly PresentedField[];
  /** Whether a person or the manifest wrote the title; otherwise it is the name of the tool. */
  readonly hasTitle: boolean;
  /** Whether every argument appears in the title or the fields. */
  readonly isComplete: boolean;
}

/** Puts the calls of one tool into words. It is pure: the same input and names give the same words. */
export interface Presentation {
  /** Lists the people whose names the words need. */
  peopleIn(input: unknown): string[];
  present(input: unknown, names?: ReadonlyMap<string, string>): Presented;
}

/** A deeper input is never complete, since no card shows it. */
const MAX_DEPTH = 200;

type Texts = NonNullable<Extract<Tool, { kind: 'tool' }>['texts']>;

/** Builds the presentation of a tool from the manifest, which goes first, and from the module's own functions. */
export function createPresentation(
  tool: Pick<Tool, 'name' | 'inputSchema'> & { readonly texts?: Texts | undefined },
  declared: TextDeclaration,
): Presentation {
  const parse = (text: string | undefined) =>
    text === undefined ? undefined : parseDisplayTemplate(text).template;
  const title = parse(declared.title);
  const done = parse(declared.done);
  const target = parse(declared.target);
  const fields = Object.entries(declared.fields ?? {}).map(([label, text]) => ({
    label,
    template: parseDisplayTemplate(text).template,
  }));
  const shown = [title, ...fields.map(({ template }) => template)].filter((part) => part !== undefined);
  const own = (key: keyof Texts, given: unknown) => callOwn(tool, key, given);

  return {
    peopleIn(given) {
      const values = { input: withDefaults(tool, given) };
      const templates = [title, done, target, ...fields.map(({ template }) => template)];
      return templates
        .flatMap((template) => placeholdersIn(template ?? []))
        .filter(({ format }) => format?.name === 'person')
        .flatMap((part) => {
          const id = placeholderValue(part, values);
          return typeof id === 'string' ? [id] : [];
        });
    },
    present(given, names = new Map()) {
      const input = withDefaults(tool, given);
      const values: TemplateValues = { input, names };
      const fill = (template: DisplayTemplate | undefined, key: keyof Texts): string | undefined =>
        template === undefined ? textOf(own(key, given)) : fillDisplayTemplate(template, values);
      const written = fill(title, 'title');
      const filled = fields.filter(({ template }) => !isWithoutValues(template, values));
      const presentedFields =
        declared.fields === undefined
          ? ownFields(own('fields', given))
          : filled.map(({ label, template }) => ({
              label,
              text: fillDisplayTemplate(template, values),
              ...formatOf(template),
            }));
      const doneText = fill(done, 'done');
      const targetText = fill(target, 'target');
      const ownTexts = [
        ...(title === undefined && written !== undefined ? [written] : []),
        ...(declared.fields === undefined ? presentedFields.map(({ text }) => text) : []),
      ];
      const placeholders = shown.flatMap(placeholdersIn);
      return {
        title: written ?? readableName(tool.name),
        ...(doneText !== undefined && { done: doneText }),
        ...(targetText !== undefined && targetText.trim() !== '' && { target: targetText }),
        fields: presentedFields,
        hasTitle: written !== undefined,
        isComplete:
          !isDeeperThan(MAX_DEPTH, [given, input]) &&
          [toJson(given), input]
            .flatMap((value) => leavesOf(value))
            .every((leaf) => isNamed(leaf, placeholders) || isWritten(leaf, ownTexts)),
      };
    },
  };
}

/** Returns the input as the tool gets it, with the defaults of its schema; an input that does not fit stays as it is. */
function withDefaults({ inputSchema }: Pick<Tool, 'inputSchema'>, given: unknown): JsonValue {
  const parsed = inputSchema.parse(given);
  return toJson(parsed.ok ? parsed.value : given);
}

/** Calls a module's own function; one that fails is treated as missing, since a card must be possible without it. */
function callOwn(
  { inputSchema, texts }: Pick<Tool, 'inputSchema'> & { readonly texts?: Texts | undefined },
  key: keyof Texts,
  input: unknown,
): unknown {
  if (texts?.[key] === undefined) return undefined;
  const parsed = inputSchema.parse(input);
  if (!parsed.ok) return undefined;
  try {
    return texts[key]?.(parsed.value);
  } catch (error) {
    return key === 'fields' ? { Problem: describeError(error) } : undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function ownFields(value: unknown): PresentedField[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([label, text]) =>
    text === undefined ? [] : [{ label, text: String(text) }],
  );
}

function formatOf(template: DisplayTemplate): { format?: string } {
  const [only, ...rest] = template;
  if (typeof only !== 'object' || rest.length > 0 || only.format === undefined) return {};
  return { format: only.format.name };
}

interface Leaf {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/** Lists the scalars of an input, and its empty lists and objects. */
function leavesOf(value: JsonValue, path: readonly string[] = []): Leaf[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (inner.length > 0) return inner.flatMap(([name, entry]) => leavesOf(entry, [...path, name]));
  // A call without arguments hides nothing.
  return path.length === 0 && isJsonObject(value) ? [] : [{ path, value }];
}

/** A placeholder shows its value and everything inside it. */
function isNamed({ path }: Leaf, placeholders: readonly Placeholder[]): boolean {
  return placeholders.some(
    (part) => part.root === 'input' && part.path.every((name, depth) => path[depth] === name),
  );
}

/** A module's own text shows a value if it contains it as a whole word. */
function isWritten({ value }: Leaf, texts: readonly string[]): boolean {
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  if (written.trim() === '') return false;
  return texts.some((text) => {
    for (let at = text.indexOf(written); at !== -1; at = text.indexOf(written, at + 1)) {
      const [before, after] = [text[at - 1] ?? ' ', text[at + written.length] ?? ' '];
      if (!/[\p{L}\p{N}.,-]/u.test(before) && !/[\p{L}\p{N}]/u.test(after)) return true;
    }
    return false;
  });
}
