import type { InputBlock, KnownBlock } from '@slack/types';
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from '../../../agent/json.ts';
import type { CompiledSchema } from '../../../agent/schema/json-schema.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { FormatCall } from '../../../tools/presentation/formats.ts';
import { limits } from '../../slack/limits.ts';
import { line, plain } from '../cards/card.ts';
import { cardDetailsOf, titleOf } from '../cards/card-details.ts';
import { cardTexts } from '../texts/cards.ts';
import { plural, words } from '../texts/format.ts';
import { modalTexts } from '../texts/modals.ts';
import { showLabel } from '../texts/show-text.ts';
import { buildElement } from './fields/field-element.ts';
import { entryInWords } from './fields/read-field.ts';
import { type Field, fieldsOf, wholeField } from './fields/schema-fields.ts';
import { EDIT_MODAL, FORM_MODAL, type Modal, modal, titleFrom, untrustedText } from './modal.ts';

/** A form, or the reason why Slack cannot show it. */
export type BuiltForm =
  | { readonly ok: true; readonly view: Modal }
  | { readonly ok: false; readonly reason: string };

/** Returns the format in which the card shows an argument. */
type FormatOf = (path: readonly string[]) => FormatCall | undefined;

/** Builds the form that edits the arguments of an action, filled with the current ones as the card shows them. */
export function buildEditModal(
  request: RequestRecord,
  inputSchema: CompiledSchema,
  formatOf?: FormatOf,
): BuiltForm {
  const details = cardDetailsOf(request);
  const isPart = details?.inner !== undefined || details?.answer !== undefined;
  if (details === undefined || isPart || isDeeperThan(limits.depth, details.input))
    return { ok: false, reason: modalTexts.notEditable };
  const intro = modalTexts.editIntro(titleOf(request));
  const built = buildInputs(inputSchema.jsonSchema, details.input, formatOf);
  if (!built.ok) return built;
  const blocks = [untrustedText(intro), ...built.blocks];
  return {
    ok: true,
    view: modal(request.id, {
      callbackId: EDIT_MODAL,
      title: modalTexts.editTitle,
      submit: modalTexts.submit,
      blocks,
    }),
  };
}

/** Builds the form that a request asks for. */
export function buildOutputModal(request: RequestRecord, outputSchema: CompiledSchema): BuiltForm {
  const details = cardDetailsOf(request);
  const intro = details?.purpose ?? details?.presented.title ?? modalTexts.formTitle;
  const built = buildInputs(outputSchema.jsonSchema, undefined);
  if (!built.ok) return built;
  const server = details?.pause?.server;
  const blocks = [
    ...(server === undefined
      ? []
      : [line(words(cardTexts.serverAsks(showLabel(server, limits.label)), { bold: true }))]),
    untrustedText(intro),
    ...built.blocks,
  ];
  return {
    ok: true,
    view: modal(request.id, {
      callbackId: FORM_MODAL,
      title: titleFrom(intro, modalTexts.formTitle),
      submit: modalTexts.submit,
      blocks,
    }),
  };
}

function buildInputs(
  schema: JsonObject,
  initial: JsonValue | undefined,
  formatOf: FormatOf = () => undefined,
): { readonly ok: true; readonly blocks: KnownBlock[] } | { readonly ok: false; readonly reason: string } {
  const fields = fieldsFor(schema, initial);
  const blocks = fields.map((field) =>
    buildBlock(
      field,
      initialOf(field, initial),
      field.name === undefined ? undefined : formatOf([field.name]),
    ),
  );
  for (const [index, { element }] of blocks.entries()) {
    const length =
      'initial_value' in element && typeof element.initial_value === 'string'
        ? element.initial_value.length
        : 0;
    if (length <= limits.inputText) continue;
    const name = showLabel(fields[index]?.label ?? '', limits.label);
    const problem = modalTexts.tooLong(
      name,
      plural(length, 'character'),
      limits.inputText.toLocaleString('en-US'),
    );
    const reason =
      initial === undefined ? modalTexts.tooLongToShow(problem) : modalTexts.tooLongToEdit(problem);
    return { ok: false, reason };
  }
  return { ok: true, blocks };
}

/** Lists the fields of a form; an object with unknown properties is edited as a whole, because they have no input of their own. */
function fieldsFor(schema: JsonObject, initial: JsonValue | undefined): Field[] {
  const fields = fieldsOf(schema);
  if (initial === undefined) return fields;
  const names = new Set(fields.map(({ name }) => name));
  const hasOwnInputs = isJsonObject(initial) && Object.keys(initial).every((name) => names.has(name));
  return hasOwnInputs ? fields : [wholeField(schema)];
}

/** Returns the initial value of a field. A default is used only in a new form: an argument that a call left out stays out. */
function initialOf({ name, schema }: Field, initial: JsonValue | undefined): JsonValue | undefined {
  if (initial === undefined) return schema.default;
  if (name === undefined) return initial;
  return isJsonObject(initial) && Object.hasOwn(initial, name) ? initial[name] : undefined;
}

function buildBlock(field: Field, value: JsonValue | undefined, format: FormatCall | undefined): InputBlock {
  const element = buildElement(field, value, format);
  const hint = hintOf(field, element.action_id);
  const mayBeEmpty =
    !field.isRequired || (element.action_id !== 'json' && (field.isNullable || isList(field)));
  return {
    type: 'input',
    block_id: field.blockId,
    label: plain(showLabel(field.label, limits.label)),
    element,
    ...(hint !== '' && { hint: plain(showLabel(hint, limits.hint)) }),
    optional: mayBeEmpty,
  };
}

function hintOf({ hint = '', kind }: Field, actionId = ''): string {
  if (actionId === 'json') return `${hint} ${modalTexts.asJson}`.trim();
  const entry = entryInWords(actionId);
  // The description is about the value as the tool gets it, in other units.
  if (entry !== '') return entry.charAt(0).toUpperCase() + entry.slice(1);
  return kind.type === 'lines' ? `${hint} ${modalTexts.onePerLine}`.trim() : hint;
}

function isList({ kind }: Field): boolean {
  return kind.type === 'lines' || kind.type === 'choices';
}
