import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect } from 'vitest';
import { checkBlocks, countCharacters } from '../../../../playground/slack/block-kit/check-blocks.ts';
import { checkView } from '../../../../playground/slack/block-kit/check-view.ts';
import { parseMrkdwn } from '../../../../playground/web/src/blocks/text/parse-mrkdwn.ts';
import { limits } from '../../../../src/bot/slack/limits.ts';
import type { Card } from '../../../../src/bot/views/cards/card.ts';
import type { Modal } from '../../../../src/bot/views/modals/modal.ts';
import { piecesIn } from '../../../playground/web/blocks/reading.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../fixtures/slack-payloads.schema.json', import.meta.url), 'utf8'),
);
const ajv = new Ajv({ strict: false }).addSchema(schema, 'slack');
const at = (part: string) => ajv.compile({ $ref: `slack#/definitions/Payloads/properties/${part}` });
const typedBlocks = at('blocks');
const typedModal = at('modal');

/** Which version of Slack's types the schema was made from. */
export const SCHEMA_COMMENT: unknown = schema.$comment;

/** Everything that Slack, its types or our table would refuse in a card. */
export function problemsOf(card: Card): unknown[] {
  const problems: unknown[] = checkBlocks(card.blocks);
  if (!typedBlocks(card.blocks)) problems.push(...(typedBlocks.errors ?? []));
  if (countCharacters(card.blocks) > limits.messageBlockCharacters)
    problems.push('too many characters in all');
  if (card.text.trim() === '' || card.text.length > limits.messageText) problems.push('no readable text');
  return [...problems, ...longTexts(card.blocks)];
}

/** The same for a modal. */
export function problemsOfModal(view: Modal): unknown[] {
  const checked = checkView(view, 'modal');
  const problems: unknown[] = checked.ok ? [] : checked.problems;
  if (!typedModal(view)) problems.push(...(typedModal.errors ?? []));
  return [...problems, ...longTexts(view.blocks)];
}

export function expectValid(card: Card): void {
  expect(problemsOf(card)).toEqual([]);
}

export function expectValidModal(view: Modal): void {
  expect(problemsOfModal(view)).toEqual([]);
}

type Node = Readonly<Record<string, unknown>>;

/** Every object in a payload. */
export function nodesIn(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (typeof value !== 'object' || value === null) return [];
  const node = { ...value };
  return [node, ...Object.values(node).flatMap(nodesIn)];
}

/** All text in a payload that somebody sees, in order. */
export function textIn(value: unknown): string {
  return nodesIn(value)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n');
}

/** The ids of what can be clicked; of a menu for seldom things, its options. */
export function actionsIn(value: unknown): string[] {
  return nodesIn(value).flatMap(({ type, action_id, options }) => {
    if (type === 'overflow')
      return nodesIn(options).flatMap((option) => (typeof option.value === 'string' ? [option.value] : []));
    return typeof action_id === 'string' ? [action_id] : [];
  });
}

/** The live parts of a payload: everything but text, with its target. */
export function liveParts(value: unknown): unknown[] {
  return nodesIn(value)
    .filter(({ type }) =>
      [
        'user',
        'usergroup',
        'link',
        'emoji',
        'broadcast',
        'channel',
        'team',
        'color',
        'mrkdwn',
        'markdown',
      ].includes(String(type)),
    )
    .flatMap(({ user_id, usergroup_id, url, type, text }) =>
      type === 'mrkdwn' ? liveInMarkup(String(text)) : [user_id ?? usergroup_id ?? url ?? type],
    );
}

/** The live parts of markup; words in bold and dates are dead. */
function liveInMarkup(text: string): unknown[] {
  return piecesIn(parseMrkdwn(text, { isVerbatim: true })).flatMap((piece) => {
    if (['text', 'break', 'styled', 'date'].includes(piece.kind)) return [];
    return 'id' in piece ? [piece.id] : [piece.kind];
  });
}

/** The moments in a payload, in seconds. */
export function momentsIn(value: unknown): unknown[] {
  return nodesIn(value).flatMap(({ type, timestamp, text }) => {
    if (type === 'date') return [timestamp];
    if (type !== 'mrkdwn') return [];
    return piecesIn(parseMrkdwn(String(text))).flatMap((piece) =>
      piece.kind === 'date' ? [piece.timestamp] : [],
    );
  });
}

function longTexts(blocks: unknown): string[] {
  const tooLong = nodesIn(blocks).filter(
    ({ type, text }) => type === 'text' && typeof text === 'string' && text.length > limits.preformattedText,
  );
  return tooLong.map(() => 'a text is longer than the table allows');
}
