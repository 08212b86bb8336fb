import { isJsonObject, type JsonObject, type JsonValue, pointerTo } from '../../../agent/json.ts';
import { matchesGlob } from '../../../policy/rules.ts';
import { parseDisplayTemplate, placeholdersIn, unknownInputs } from '../../presentation/text-template.ts';
import { didYouMean, type Finding } from '../problem.ts';

const KEYS = ['title', 'done', 'target'];

/**
 * Finds mistakes in the texts for people: what is no placeholder, unknown formats, and for http unknown inputs. The inputs of modules and
 * servers are known only when they are open.
 */
export function checkTexts(pointer: string, name: string, tool: JsonObject, tools: JsonObject): Finding[] {
  const schema = tool.http === undefined ? undefined : isJsonObject(tool.input) ? tool.input : NO_INPUT;
  const cards = Array.isArray(tool.cards) ? tool.cards : [];
  return [
    ...checkSet(pointer, tool, schema),
    ...checkPreview(`${pointer}/preview`, tool.preview, schema, tools),
    ...checkUndo(`${pointer}/undo`, tool, schema, isFromCode(tool)),
    ...checkReversible(pointer, tool, tool),
    ...cards.flatMap((card: JsonValue, index) => {
      if (!isJsonObject(card)) return [];
      const at = pointerTo(`${pointer}/cards`, index);
      const isUnused =
        tool.http !== undefined && typeof card.match === 'string' && !matchesGlob(card.match, name);
      const message = `"${String(card.match)}" does not match "${name}"`;
      return [
        ...(isUnused ? [{ pointer: `${at}/match`, at: 'value' as const, message }] : []),
        ...checkSet(at, card, schema),
        ...checkPreview(`${at}/preview`, card.preview, schema, tools),
        ...checkUndo(`${at}/undo`, card, schema, isFromCode(tool)),
        ...checkReversible(at, card, tool),
      ];
    }),
  ];
}

const NO_INPUT: JsonObject = { type: 'object', properties: {} };

/** Tells whether a tool is a function of somebody's code, which may have texts, a preview and an undo of its own. */
export function isFromCode({ module, code }: JsonObject): boolean {
  return module !== undefined || code !== undefined;
}

/** Checks the texts of a tool or of a card. */
export function checkSet(pointer: string, texts: JsonObject, schema: JsonObject | undefined): Finding[] {
  const fields = isJsonObject(texts.fields) ? Object.entries(texts.fields) : [];
  return [
    ...KEYS.map((key) => [`${pointer}/${key}`, texts[key]] as const),
    ...fields.map(([label, text]) => [pointerTo(`${pointer}/fields`, label), text] as const),
  ].flatMap(([at, text]) => (typeof text === 'string' ? checkText(at, text, schema) : []));
}

/** Checks a preview: its templates, and that a tool of the manifest only reads. */
function checkPreview(
  pointer: string,
  preview: JsonValue | undefined,
  schema: JsonObject | undefined,
  tools: JsonObject,
): Finding[] {
  if (!isJsonObject(preview)) return [];
  const input = isJsonObject(preview.input) ? preview.input : {};
  const findings = [
    ...Object.entries(input).flatMap(([key, text]) =>
      typeof text === 'string' ? checkText(pointerTo(`${pointer}/input`, key), text, schema) : [],
    ),
    ...['before', 'after'].flatMap((key) => {
      const text = preview[key];
      return typeof text === 'string'
        ? checkText(`${pointer}/${key}`, text, schema, { hasOutput: true })
        : [];
    }),
  ];
  const used = typeof preview.tool === 'string' ? tools[preview.tool] : undefined;
  const http = isJsonObject(used) && isJsonObject(used.http) ? used.http : undefined;
  if (http?.method === undefined || http.method === 'GET') return findings;
  const message = `a preview can only read, and this tool is a ${String(http.method)}`;
  return [...findings, { pointer: `${pointer}/tool`, at: 'value', message }];
}

/** Checks the templates of an undo; a module may have a preview of its own. */
function checkUndo(
  pointer: string,
  { undo, preview }: JsonObject,
  schema: JsonObject | undefined,
  isModule: boolean,
): Finding[] {
  if (!isJsonObject(undo)) return [];
  const input = isJsonObject(undo.input) ? undo.input : {};
  const given = { hasOutput: true, hasPreview: isModule || preview !== undefined };
  return Object.entries(input).flatMap(([key, text]) =>
    typeof text === 'string' ? checkText(pointerTo(`${pointer}/input`, key), text, schema, given) : [],
  );
}

/** Finds a word about taking a call back that contradicts the rest of its tool; a module may have an undo of its own. */
function checkReversible(pointer: string, { reversible, undo }: JsonObject, tool: JsonObject): Finding[] {
  const isGet = isJsonObject(tool.http) && tool.http.method === 'GET';
  const onlyReads = tool.effect === 'none' || (tool.effect === undefined && isGet);
  const message = reversibleProblem({
    reversible,
    hasUndo: undo !== undefined,
    mayHaveUndo: isFromCode(tool),
    onlyReads,
  });
  return message === undefined ? [] : [{ pointer: `${pointer}/reversible`, at: 'value', message }];
}

/** Describes what contradicts the word of the manifest about taking a call back. */
export function reversibleProblem({
  reversible,
  hasUndo,
  mayHaveUndo = false,
  onlyReads,
}: {
  readonly reversible: unknown;
  readonly hasUndo: boolean;
  readonly mayHaveUndo?: boolean;
  readonly onlyReads: boolean;
}): string | undefined {
  if (reversible === undefined || reversible === null) return undefined;
  if (onlyReads && reversible !== 'yes')
    return 'a tool that only reads leaves nothing to take back; remove "reversible"';
  if (reversible === 'undo' && !hasUndo && !mayHaveUndo)
    return 'nothing says how a call is undone, so it counts as "no"; add "undo", or write "reversible: no"';
  if (reversible !== 'undo' && hasUndo)
    return `"reversible: ${String(reversible)}" contradicts its undo, which is offered for a while; write "reversible: undo", or remove the undo`;
  return undefined;
}

function checkText(
  pointer: string,
  text: string,
  schema: JsonObject | undefined,
  { hasOutput = false, hasPreview = false } = {},
): Finding[] {
  const { template, problems } = parseDisplayTemplate(text);
  const outputs = placeholdersIn(template)
    .filter(({ root }) => root === 'output' && !hasOutput)
    .map(({ offset }) => ({ offset, message: 'there is no output yet; only a preview can show one' }));
  const previews = placeholdersIn(template)
    .filter(({ root, path }) => root === 'preview' && !(hasPreview && path.join('.') === 'before'))
    .map(({ offset }) => ({
      offset,
      message: hasPreview
        ? 'a preview has only "before" for an undo: write {{preview.before}}'
        : 'only the undo of a tool with a preview can use {{preview.before}}',
    }));
  const requesters = placeholdersIn(template)
    .filter(({ root }) => root === 'requester')
    .map(({ offset }) => ({ offset, message: 'only a tool that finds an approver can use {{requester.…}}' }));
  const unknown = schema === undefined ? [] : unknownInputs(template, schema);
  return [...problems, ...outputs, ...previews, ...requesters, ...unknown].map(
    ({ offset, message, ...rest }) => ({
      pointer,
      at: 'value',
      inside: offset,
      message: `${message}${suggestionFor('unknown' in rest ? rest.unknown : undefined)}`,
    }),
  );
}

function suggestionFor(
  unknown: { readonly written: string; readonly known: readonly string[] } | undefined,
): string {
  if (unknown === undefined) return '';
  const { written, known } = unknown;
  const last = written.split('.').at(-1) ?? written;
  return didYouMean(last, known) || (known.length === 0 ? '' : `; there are ${known.join(', ')}`);
}
