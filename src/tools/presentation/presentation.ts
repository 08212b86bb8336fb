import { describeError } from '../../agent/errors.ts';
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import type { Tool } from '../../agent/tool.ts';
import { applyFormat, type FormatCall, isWord, readableName } from './formats.ts';
import { TABLE, tableText } from './table.ts';
import {
  type DisplayTemplate,
  fillDisplayTemplate,
  isWithoutValues,
  MISSING,
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
interface PresentedField {
  readonly label: string;
  readonly text: string;
  /** The format of a field that is one value; a place may show it in its own way. */
  readonly format?: string | undefined;
  /** The argument that the field shows as it is, where neither the manifest nor the module has words for it. */
  readonly argument?: string | undefined;
  /** Whether the title tells the same value, exactly and in the same format. */
  readonly isInTitle?: true | undefined;
}

/** A call in words for people, as raw text: the place that shows it makes it harmless. */
export interface Presented {
  readonly title: string;
  /** The title after success. */
  readonly done?: string | undefined;
  /** The one value that says what the call touches. */
  readonly target?: string | undefined;
  readonly fields: readonly PresentedField[];
  /** Whether a person or the manifest wrote the title; otherwise it is the name of the tool with its first inputs. */
  readonly hasTitle: boolean;
  /** Whether the title and the fields tell every argument, and no other arguments look the same in them. */
  readonly isComplete: boolean;
}

/** Puts the calls of one tool into words. It is pure: the same input and names give the same words. */
export interface Presentation {
  /** Lists the people whose names the words need. */
  peopleIn(input: unknown): string[];
  present(input: unknown, names?: ReadonlyMap<string, string>): Presented;
  /** Returns what a call touches, by the ids in its input; `undefined` if the tool has no target. */
  targetOf(input: unknown): string | undefined;
  /** Says in a few words what the tool does, and to what kind of target, as its title and its fields do. */
  readonly act: { readonly verb: string; readonly target: string | undefined };
  /** Labels an input as the card does. */
  labelOf(path: readonly string[]): string | undefined;
  /** Returns the format in which the card shows an input; `undefined` if it shows it as it is. */
  formatOf(path: readonly string[]): FormatCall | undefined;
}

/** A deeper input is never complete, since no card shows it. */
const MAX_DEPTH = 200;

type Texts = NonNullable<Extract<Tool, { kind: 'tool' }>['texts']>;

/** The part of a tool that its words come from. */
type WordedTool = Pick<Tool, 'name' | 'inputSchema'> & { readonly texts?: Texts | undefined };

interface Labelled {
  readonly label: string;
  readonly template: DisplayTemplate;
}

/** The texts of the manifest as templates. */
interface Templates {
  readonly title: DisplayTemplate | undefined;
  readonly done: DisplayTemplate | undefined;
  readonly target: DisplayTemplate | undefined;
  /** `undefined` where the manifest has no fields, and those of the module count. */
  readonly fields: readonly Labelled[] | undefined;
  /** The labels of the arguments that the card adds by itself. */
  readonly labels: ReadonlyMap<string, string>;
}

/** Builds the presentation of a tool from the manifest, which goes first, and from the module's own functions. */
export function createPresentation(tool: WordedTool, declared: TextDeclaration): Presentation {
  const templates = readTemplates(declared, tool.inputSchema.jsonSchema);
  const { title, done, target, fields = [] } = templates;
  const parts = [title, ...fields.map(({ template }) => template), done, target].flatMap((template) =>
    placeholdersIn(template ?? []),
  );

  const labelOf = (path: readonly string[]): string | undefined => {
    const field = fields.find(({ template: [only, ...rest] }) => rest.length === 0 && isAt(only, path));
    const name = path.at(-1);
    return field?.label ?? (name === undefined ? undefined : readableName(name));
  };
  const [only, ...others] = target ?? [];
  const verb = typeof title?.[0] === 'string' ? title[0].trim() : '';

  return {
    labelOf,
    act: {
      verb: verb === '' ? readableName(tool.name) : verb,
      target: typeof only === 'object' && others.length === 0 ? labelOf(only.path) : undefined,
    },
    targetOf(given) {
      const values = { input: withDefaults(tool, given) };
      const isMissing = (part: Placeholder) => placeholderValue(part, values) === undefined;
      return placeholdersIn(target ?? []).some(isMissing)
        ? undefined
        : targetIn(tool, templates, given, values);
    },
    formatOf: (path) => parts.find((part) => part.format !== undefined && isAt(part, path))?.format,
    peopleIn(given) {
      const values = { input: withDefaults(tool, given) };
      return parts
        .filter(({ format }) => format?.name === 'person')
        .flatMap((part) => {
          const id = placeholderValue(part, values);
          return typeof id === 'string' ? [id] : [];
        });
    },
    present: (given, names = new Map()) => presentCall(tool, templates, given, names),
  };
}

/** Puts one call into words. What neither the manifest nor the module tells of its arguments is added as fields. */
function presentCall(
  tool: WordedTool,
  templates: Templates,
  given: unknown,
  names: ReadonlyMap<string, string>,
): Presented {
  const { title, done, fields, labels } = templates;
  const input = withDefaults(tool, given);
  const values: TemplateValues = { input, names };
  const schema = tool.inputSchema.jsonSchema;
  const named: Placeholder[] = [];
  const tell = (template: DisplayTemplate, isField = false): string => {
    const { text, isExact } = tellValues(template, values, { schema, isField });
    if (isExact) named.push(...placeholdersIn(template));
    return text;
  };
  const tellField = ({ label, template }: Labelled): PresentedField => ({
    label,
    text: tell(template, true),
    ...formatOf(template, { values, schema }),
    ...(isTold(template) && { isInTitle: true as const }),
  });
  const isTold = ([only, ...others]: DisplayTemplate) =>
    typeof only === 'object' && others.length === 0 && inTitle.some((part) => isSame(part, only));
  const ownText = (key: 'title' | 'done') => quoteValues(textOf(callOwn(tool, key, given)), input);
  const written = title === undefined ? ownText('title') : tell(title);
  const byDefault = written === undefined ? defaultTitle(tool, toJson(given)) : undefined;
  const inTitle = byDefault === undefined ? [...named] : byDefault.told;
  const hasOwn = fields === undefined && tool.texts?.fields !== undefined;
  const filled = (fields ?? []).filter(({ template }) => !isWithoutValues(template, values));
  const writtenFields = hasOwn ? ownFields(callOwn(tool, 'fields', given)) : filled.map(tellField);
  const ownTexts = hasOwn ? writtenFields.map(({ text }) => text) : [];
  const ownLabels = () =>
    argumentLabels(
      schema,
      writtenFields.map(({ label }) => label),
    );
  const untold = hasOwn
    ? untoldBy(ownTexts, input, { labels: ownLabels(), named, schema })
    : [...labels].filter(([name]) => !isNamed({ path: [name] }, named));
  const rest = untold.flatMap(([name, label]): PresentedField[] => {
    const template = [placeholderOf(name)];
    return isWithoutValues(template, values) ? [] : [{ ...tellField({ label, template }), argument: name }];
  });
  const doneText = done === undefined ? ownText('done') : tellValues(done, values, { schema }).text;
  // People type the target, so it has no quotes.
  const targetText = targetIn(tool, templates, given, values);
  return {
    title: written ?? byDefault?.text ?? '',
    ...(doneText !== undefined && { done: doneText }),
    ...(targetText !== undefined && { target: targetText }),
    fields: [...writtenFields, ...rest],
    hasTitle: written !== undefined,
    isComplete:
      !isDeeperThan(MAX_DEPTH, [given, input]) &&
      [toJson(given), input].every((value) => areTold(leavesOf(value), { named, ownTexts, schema })),
  };
}

function targetIn(
  tool: WordedTool,
  { target }: Templates,
  given: unknown,
  values: TemplateValues,
): string | undefined {
  const text =
    target === undefined ? textOf(callOwn(tool, 'target', given)) : fillDisplayTemplate(target, values);
  return text === undefined || text.trim() === '' ? undefined : text;
}

function readTemplates({ title, done, target, fields }: TextDeclaration, schema: JsonObject): Templates {
  const labelled = Object.entries(fields ?? {}).map(([label, text]) => ({
    label,
    template: parseDisplayTemplate(text).template,
  }));
  return {
    title: templateOf(title),
    done: templateOf(done),
    target: templateOf(target),
    fields: fields === undefined ? undefined : labelled,
    labels: argumentLabels(schema, Object.keys(fields ?? {})),
  };
}

function templateOf(text: string | undefined): DisplayTemplate | undefined {
  return text === undefined ? undefined : parseDisplayTemplate(text).template;
}

const MAX_TITLE_VALUES = 3;
const MAX_VALUE_LENGTH = 40;
/** Letters, digits and what stands in names, addresses and versions. */
const SHORT_TEXT = new RegExp(
  `^[\\p{L}\\p{N}_/@#+][\\p{L}\\p{N}\\p{M} ._/@:#+,'&()-]{0,${MAX_VALUE_LENGTH - 1}}$`,
  'u',
);

/**
 * Names a call without a title: the tool in words, and its first short inputs by name, required ones first. A required text that comes
 * first needs no name: "Scale checkout: min 2, max 40". Returns the inputs that it tells as well.
 */
function defaultTitle(
  { name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>,
  given: JsonValue,
): { readonly text: string; readonly told: readonly Placeholder[] } {
  const { properties, required }: JsonObject = inputSchema.jsonSchema;
  const known = isJsonObject(properties) && isJsonObject(given) ? Object.keys(properties) : [];
  const needed = new Set(Array.isArray(required) ? required : []);
  const shown = [...known.filter((each) => needed.has(each)), ...known.filter((each) => !needed.has(each))]
    .map(placeholderOf)
    .filter((part) => isShort(placeholderValue(part, { input: given })))
    .slice(0, MAX_TITLE_VALUES);
  const [first, ...others] = shown;
  const [key = ''] = first?.path ?? [];
  const isSubject =
    first !== undefined && needed.has(key) && isText(placeholderValue(first, { input: given }));
  const named = (isSubject ? others : shown).flatMap((part, index) => [
    `${index === 0 ? ': ' : ', '}${nameOf(properties, part)} `,
    part,
  ]);
  const template = [readableName(name), ...(isSubject ? [' ', first] : []), ...named];
  const { text, isExact } = tellValues(template, { input: given }, { schema: inputSchema.jsonSchema });
  return { text, told: isExact ? shown : [] };
}

const PLAIN_TITLE = /^[A-Za-z][A-Za-z ]{0,30}$/;

/** Names an input in a title: as its schema does in plain words, or by its own name. */
function nameOf(properties: JsonValue | undefined, { path: [key = ''] }: Placeholder): string {
  const schema = isJsonObject(properties) ? properties[key] : undefined;
  const title = isJsonObject(schema) ? schema.title : undefined;
  const name = typeof title === 'string' && PLAIN_TITLE.test(title) ? title : readableName(key);
  return name.toLowerCase();
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === 'string';
}

function isShort(value: JsonValue | undefined): boolean {
  return typeof value === 'number' || (typeof value === 'string' && SHORT_TEXT.test(value));
}

function placeholderOf(name: string): Placeholder {
  return { root: 'input', path: [name], format: undefined, offset: 0 };
}

const ARGUMENT = /^[A-Za-z][\w-]{0,60}$/;
/** The labels of what the card itself says. */
const TAKEN = ['why approval', 'arguments', 'before', 'after', 'preview', 'reason for approval'];

/** Labels the arguments of a schema in words, each in its own; one whose name is no plain word, or is taken, has none. */
function argumentLabels(schema: JsonObject, declared: readonly string[]): ReadonlyMap<string, string> {
  const names = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  const fold = (text: string) => text.toLowerCase();
  const inWords = names.map((name) => fold(readableName(name)));
  const taken = new Set([...TAKEN, ...declared.map(fold)]);
  const all = [...taken, ...inWords, ...names.map(fold)];
  return new Map(
    names.flatMap((name) => {
      if (!ARGUMENT.test(name)) return [];
      const label = readableName(name);
      const isAlone = inWords.filter((each) => each === fold(label)).length === 1;
      if (isAlone && !taken.has(fold(label))) return [[name, label] as const];
      if (all.filter((each) => each === fold(name)).length === 1) return [[name, name] as const];
      const exact = `${label} (exact)`;
      return isAlone && !taken.has(fold(exact)) ? [[name, exact] as const] : [];
    }),
  );
}

/** Returns the input as the tool gets it, with the defaults of its schema; an input that does not fit stays as it is. */
function withDefaults({ inputSchema }: Pick<Tool, 'inputSchema'>, given: unknown): JsonValue {
  const parsed = inputSchema.parse(given);
  return toJson(parsed.ok ? parsed.value : given);
}

/** Calls a module's own function; one that fails is treated as missing, since a card must be possible without it. */
function callOwn(
  { inputSchema, texts }: Pick<WordedTool, 'inputSchema' | 'texts'>,
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

/** Quotes the values of an input in the title that a module has made of them, as in a title of the manifest: a word stands as it is. */
function quoteValues(title: string | undefined, input: JsonValue): string | undefined {
  if (title === undefined) return undefined;
  const texts = leavesOf(input).flatMap(({ value }) =>
    typeof value === 'string' && value.trim() !== '' && !isWord(value) && title.includes(value)
      ? [value]
      : [],
  );
  return quoteAll(
    title,
    texts.toSorted((one, other) => other.length - one.length),
  );
}

/** Returns a text in the quotes in which a title has it, if it cannot leave them. */
function setOffIn(title: string, text: string): string | undefined {
  const forms = [...(/[“”„‟″❝❞〝〞＂]/.test(text) ? [] : [`“${text}”`]), JSON.stringify(text)];
  return forms.find((form) => title.includes(form));
}

/** Quotes texts in a title, the longest first, unless they stand in quotes already, or within others that do. */
function quoteAll(title: string, [longest, ...rest]: readonly string[]): string {
  if (longest === undefined) return title;
  const quoted = setOffIn(title, longest);
  if (quoted !== undefined)
    return title
      .split(quoted)
      .map((part) => quoteAll(part, [longest, ...rest]))
      .join(quoted);
  const parts = title.split(longest).map((part) => quoteAll(part, rest));
  return parts.join(JSON.stringify(longest));
}

/** Tells whether two placeholders write the same value in the same format. */
function isSame(one: Placeholder, other: Placeholder): boolean {
  const [first, second] = [one, other].map(({ root, path, format }) =>
    JSON.stringify({ root, path, format }),
  );
  return first === second;
}

function ownFields(value: unknown): PresentedField[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([label, text]) =>
    text === undefined ? [] : [{ label, text: String(text) }],
  );
}

function isAt(part: DisplayTemplate[number] | undefined, path: readonly string[]): boolean {
  return (
    typeof part === 'object' &&
    part.root === 'input' &&
    part.path.length === path.length &&
    part.path.every((name, depth) => path[depth] === name)
  );
}

function formatOf(
  template: DisplayTemplate,
  { values, schema }: { readonly values: TemplateValues; readonly schema: JsonObject },
): { format?: string } {
  const [only, ...rest] = template;
  if (typeof only !== 'object' || rest.length > 0) return {};
  if (only.format !== undefined) return { format: only.format.name };
  return tableAt(only, values, schema) === undefined ? {} : { format: TABLE };
}

/** Writes a list of objects as a table, where the schema allows nothing but a list. */
function tableAt(part: Placeholder, values: TemplateValues, schema: JsonObject): string | undefined {
  const value = placeholderValue(part, values);
  if (value === undefined || !hasOneType(schema, part.path, value)) return undefined;
  return tableText(value);
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
function isNamed({ path }: Pick<Leaf, 'path'>, placeholders: readonly Placeholder[]): boolean {
  return placeholders.some(
    (part) => part.root === 'input' && part.path.every((name, depth) => path[depth] === name),
  );
}

/**
 * Tells whether each value is named by a template, or is all that one of the module's own fields says. The module's own title does not
 * count, since nobody can tell its words from the values in it.
 */
function areTold(
  leaves: readonly Leaf[],
  {
    named,
    ownTexts,
    schema,
  }: { named: readonly Placeholder[]; ownTexts: readonly string[]; schema: JsonObject },
): boolean {
  const unnamed = leaves.filter((leaf) => !isNamed(leaf, named));
  return withoutTold(ownTexts, unnamed, schema) !== undefined;
}

/** Returns the texts that are left when each value has taken one that says nothing else; `undefined` if there is none for a value. */
function withoutTold(
  texts: readonly string[],
  leaves: readonly Leaf[],
  schema: JsonObject,
): readonly string[] | undefined {
  const left = [...texts];
  for (const { path, value } of leaves) {
    const at = left.indexOf(typeof value === 'string' ? value : JSON.stringify(value));
    if (at === -1 || value === '' || !hasOneType(schema, path, value)) return undefined;
    left.splice(at, 1);
  }
  return left;
}

/** Lists the arguments that a module's own fields do not tell, with the labels under which the card adds them. */
function untoldBy(
  ownTexts: readonly string[],
  input: JsonValue,
  {
    labels,
    named,
    schema,
  }: { labels: ReadonlyMap<string, string>; named: readonly Placeholder[]; schema: JsonObject },
): (readonly [string, string])[] {
  let left = ownTexts;
  return [...labels].filter(([name]) => {
    const value = isJsonObject(input) ? input[name] : undefined;
    if (value === undefined || isNamed({ path: [name] }, named)) return false;
    const others = withoutTold(left, leavesOf(value, [name]), schema);
    left = others ?? left;
    return others === undefined;
  });
}

/** A filled text of a card. */
interface Told {
  readonly text: string;
  /** Whether no other values give the same text; otherwise the card shows the arguments beside it. */
  readonly isExact: boolean;
}

/**
 * Fills a title or a field of a card, so that values are told apart from the words around them: a single word stands as it is, any other
 * text in quotes. A field that is one value is set off by its label.
 */
function tellValues(
  template: DisplayTemplate,
  values: TemplateValues,
  { schema, isField = false }: { readonly schema: JsonObject; readonly isField?: boolean },
): Told {
  const isAlone = isField && template.length === 1;
  const told = template.map((part, index): Value => {
    if (typeof part === 'string') return { text: part, isExact: true };
    const isDelimited = isAlone || endsBefore(template, index);
    const value = tellValue(part, values, { schema, isAlone, isDelimited });
    return { ...value, isExact: value.isExact && (isDelimited || isQuoted(value.text)) };
  });
  const text = told.map((part) => part.text).join('');
  // A text with one value of several words is read from both ends.
  const loose = told.findIndex(({ isLoose }) => isLoose === true);
  const isReadable =
    loose === -1 ||
    template.every(
      (part, index) =>
        index <= loose ||
        typeof part === 'string' ||
        (told[index]?.isLoose !== true && BEFORE.test(literalAt(template, index - 1))),
    );
  return { text, isExact: isReadable && told.every(({ isExact }) => isExact) };
}

interface Value extends Told {
  /** Whether the text has several words without quotes. */
  readonly isLoose?: boolean;
}

interface Place {
  readonly schema: JsonObject;
  readonly isAlone: boolean;
  readonly isDelimited: boolean;
}

const PROSE = new Set([undefined, 'code']);
const TEXT_WITH_SPACES = new Set(['date', 'duration', 'bytes', 'list']);

function tellValue(
  part: Placeholder,
  values: TemplateValues,
  { schema, isAlone, isDelimited }: Place,
): Value {
  const value = placeholderValue(part, values);
  if (value === undefined) return { text: MISSING, isExact: true };
  const types = typesAt(schema, part.path);
  const isTyped = hasOneType(schema, part.path, value);
  // A value that its schema does not allow could look like one that it does.
  const isPossible = types === undefined || types.includes(typeOf(value));
  const format = part.format?.name;
  if (typeof value === 'string' && PROSE.has(format)) {
    const isBare = isTyped && (isAlone ? isPlain(value) : isDelimited && isWord(value));
    return { text: isBare ? value : JSON.stringify(value), isExact: isPossible };
  }
  const table = isAlone && format === undefined ? tableAt(part, values, schema) : undefined;
  if (table !== undefined) return { text: table, isExact: true };
  const formatted = part.format && applyFormat(value, part.format);
  if (formatted === undefined)
    return { text: JSON.stringify(value), isExact: isPossible, isLoose: typeof value === 'object' };
  const name = format === 'person' ? values.names?.get(formatted.text) : undefined;
  const text =
    name === undefined ? formatted.text : `${isWord(name) ? name : JSON.stringify(name)} (${formatted.text})`;
  const isLoose = name !== undefined || (format !== undefined && TEXT_WITH_SPACES.has(format));
  return { text, isExact: isTyped && formatted.isExact, isLoose };
}

/** A text that is a field by itself may have several words, but it may not look quoted or end in blanks. */
function isPlain(text: string): boolean {
  return text !== '' && text.trim() === text && !text.startsWith('"');
}

function isQuoted(text: string): boolean {
  return text.startsWith('"') || text === MISSING;
}

/** A stop counts as the end of a value only before a blank, because a value may have one inside. */
const AFTER = /^(?:[^\p{L}\p{N}\p{M}._/@:#+,-]|[.,:](?:\s|$))/u;
const BEFORE = /[\s(]$/;

/** Tells whether the words after a value show where it ends. */
function endsBefore(template: DisplayTemplate, index: number): boolean {
  if (index === template.length - 1) return true;
  const isLast = index + 1 === template.length - 1;
  return AFTER.test(`${literalAt(template, index + 1)}${isLast ? '' : 'x'}`);
}

function literalAt(template: DisplayTemplate, index: number): string {
  const part = template[index];
  return typeof part === 'string' ? part : '';
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Tells whether a schema allows only values of this type at a path, so that the text of a value tells its type. */
function hasOneType(schema: JsonObject, path: readonly string[], value: JsonValue): boolean {
  const types = typesAt(schema, path);
  return types?.length === 1 && types[0] === typeOf(value);
}

/** Lists the types that a schema allows at a path; `undefined` if only a value can decide. */
function typesAt(schema: JsonObject, path: readonly string[]): readonly string[] | undefined {
  let node: JsonValue | undefined = schema;
  for (const name of path) {
    if (!isJsonObject(node)) return undefined;
    const { properties, items }: JsonObject = node;
    if (isJsonObject(properties) && Object.hasOwn(properties, name)) node = properties[name];
    else if (/^\d+$/.test(name)) node = items;
    else return undefined;
  }
  return typesOf(node);
}

function typesOf(node: JsonValue | undefined): readonly string[] | undefined {
  if (!isJsonObject(node)) return undefined;
  const { type, enum: listed, const: constant, anyOf, oneOf } = node;
  const types = typeof type === 'string' ? [type] : type;
  if (Array.isArray(types))
    return [...new Set(types.map((each) => (each === 'integer' ? 'number' : String(each))))];
  if (constant !== undefined) return [typeOf(constant)];
  if (Array.isArray(listed)) return [...new Set(listed.map(typeOf))];
  const choices = anyOf ?? oneOf;
  if (!Array.isArray(choices)) return undefined;
  const each = choices.map(typesOf);
  return each.includes(undefined) ? undefined : [...new Set(each.flatMap((found) => found ?? []))];
}
