import type { InputBlock, KnownBlock, ModalView, SectionBlock } from '@slack/types';
import { z } from 'zod';
import { limits } from '../../slack/limits.ts';
import { fitsHeading } from '../cards/call-body.ts';
import { plain } from '../cards/card.ts';
import { modalTexts } from '../texts/modals.ts';
import { excerpt, showLabel } from '../texts/show-text.ts';

/** A modal with documented blocks only. */
export interface Modal extends ModalView {
  blocks: KnownBlock[];
}

export const DETAILS_MODAL = 'details';
export const APPROVE_MODAL = 'approve';
export const GRANT_MODAL = 'grant';
export const COMMENT_MODAL = 'approve-commented';
export const CHOOSE_MODAL = 'choose-steps';
export const REJECT_MODAL = 'reject';
export const EDIT_MODAL = 'edit';
export const FORM_MODAL = 'form';
export const ANSWER_MODAL = 'answer';
export const RESOLVE_MODAL = 'resolve';

/** The result of a submitted modal: a value, or a sentence below each invalid input. */
export type Submission<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly errors: Readonly<Record<string, string>> };

const Metadata = z.object({
  requestId: z.string().min(1),
  page: z.number().int().nonnegative(),
  tries: z.number().int().nonnegative().optional(),
});
/** The metadata of a modal: its request, its page, and the number of attempts when it was opened. */
export type ModalMetadata = Readonly<z.infer<typeof Metadata>>;

export function writeMetadata({ requestId, page, tries }: ModalMetadata): string {
  return JSON.stringify({ requestId, page, tries });
}

/** Parses a modal's metadata; `undefined` if it is none. */
export function parseMetadata(text: string): ModalMetadata | undefined {
  try {
    return Metadata.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Builds a modal about one request. */
export function modal(
  requestId: string,
  parts: {
    readonly callbackId: string;
    readonly title: string;
    readonly submit?: string;
    readonly blocks: KnownBlock[];
    readonly page?: number;
    readonly tries?: number;
  },
): Modal {
  return {
    type: 'modal',
    callback_id: parts.callbackId,
    private_metadata: writeMetadata({ requestId, page: parts.page ?? 0, tries: parts.tries }),
    title: plain(showLabel(parts.title, limits.viewTitle)),
    close: plain(parts.submit === undefined ? modalTexts.close : modalTexts.cancel),
    ...(parts.submit !== undefined && { submit: plain(showLabel(parts.submit, limits.viewButton)) }),
    blocks: parts.blocks,
  };
}

/** Titles a modal with what it is about, if Slack's short title has room for it. */
export function titleFrom(about: string, otherwise: string): string {
  return fitsHeading(about, limits.viewTitle) ? about : otherwise;
}

/** Shows untrusted text in a modal, and cuts it before it pushes the rest out of sight. */
export function untrustedText(text: string): SectionBlock {
  const room = { characters: limits.questionCharacters, lines: limits.questionLines };
  return { type: 'section', text: plain(excerpt(text, room).text) };
}

/** Builds a multi-line input; its block and its action have the same id. */
export function multilineInput(
  id: string,
  label: string,
  options: { readonly optional?: boolean } = {},
): InputBlock {
  return {
    type: 'input',
    block_id: id,
    label: plain(showLabel(label, limits.label)),
    element: { type: 'plain_text_input', action_id: id, multiline: true, max_length: limits.reason },
    ...options,
  };
}

const Chosen = z.object({ value: z.string() });
const InputState = z.object({
  type: z.string(),
  value: z.string().nullish(),
  selected_option: Chosen.nullish(),
  selected_options: z.array(Chosen).nullish(),
  selected_date: z.string().nullish(),
  selected_date_time: z.number().nullish(),
});
/** The state of one input in a submitted modal. */
export type InputState = Readonly<z.infer<typeof InputState>>;

const ModalState = z.record(z.string(), z.record(z.string(), z.unknown()));

/** Lists the inputs of `view.state.values`, by block, each with its action id. */
export function parseModalState(
  values: unknown,
): ReadonlyMap<string, { readonly actionId: string; readonly state: InputState }> {
  const blocks = ModalState.safeParse(values);
  const inputs = Object.entries(blocks.success ? blocks.data : {}).flatMap(([blockId, actions]) =>
    Object.entries(actions).flatMap(([actionId, input]) => {
      const state = InputState.safeParse(input);
      return state.success ? [[blockId, { actionId, state: state.data }] as const] : [];
    }),
  );
  return new Map(inputs);
}

/** Returns the trimmed text of an input; `undefined` if it is empty. */
export function textIn(values: unknown, blockId: string): string | undefined {
  const text = parseModalState(values).get(blockId)?.state.value?.trim();
  return text === '' ? undefined : text;
}
