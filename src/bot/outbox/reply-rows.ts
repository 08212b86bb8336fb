import type { ContextActionsBlock } from '@slack/types';
import { z } from 'zod';
import type { RefusedCall } from '../../engine/ports.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { ClaimedTurn, OutboxRow } from '../../store/port/values.ts';
import { readableName } from '../../tools/presentation/formats.ts';
import { limits } from '../slack/limits.ts';
import { parseThreadId, placeIn } from '../slack/thread.ts';
import { FEEDBACK } from '../views/cards/action-ids.ts';
import { plain } from '../views/cards/card.ts';
import { titleOf } from '../views/cards/card-details.ts';
import {
  closeFence,
  fencedLine,
  fenceLines,
  inlinePieces,
  openedFence,
  openFenceIn,
  sanitizeMarkdown,
} from '../views/sanitize-markdown.ts';
import { plural } from '../views/texts/format.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { replyTexts } from '../views/texts/replies.ts';
import { showLabel } from '../views/texts/show-text.ts';
import type { PostedReply } from './reply-stream.ts';

const BLOCK_START = /^ *(?:[-+*_>#~]|\d{1,9}[.)])/;

interface ReplyOptions {
  readonly session: 'active' | 'suspended';
  readonly requester: string;
  /** The people whom the first message mentions. */
  readonly addressees?: readonly string[];
  /** Whether people are asked below the last message whether the answer helped. */
  readonly feedback?: boolean;
}

/**
 * Splits a turn's text into outbox rows. The token makes the ids stable when the end of the turn is written again. A streamed message
 * becomes the first row, and its stream ends with the status of the session.
 */
export function replyRows(
  turn: Pick<ClaimedTurn, 'threadId' | 'token'>,
  text: string,
  posted: PostedReply | undefined,
  { session, requester, feedback = false, addressees = [] }: ReplyOptions,
): OutboxRow[] {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  const parts = limit(split(text, posted?.sent ?? 0));
  // A stream that showed steps only has to end as well.
  const shown = parts.length === 0 && posted !== undefined ? [''] : parts;
  return shown.map((part, index, { length }) => ({
    id: `${turn.threadId}/${turn.token}/${index}`,
    body: {
      kind: 'reply',
      channel,
      threadTs,
      text: part,
      requester,
      ...(feedback && index === length - 1 && { feedback: `${turn.threadId} ${turn.token}` }),
      ...(addressees.length > 0 && index === 0 && { addressees: [...addressees] }),
      ...(index === 0 && posted !== undefined && { standing: { ...posted, session } }),
    },
  }));
}

/** Joins the texts of a turn as paragraphs; a code block that one of them leaves open is closed before the next. */
export function joinTexts(texts: readonly string[]): string {
  const [last = '', ...before] = texts.filter((text) => text.trim() !== '').toReversed();
  return [...before.toReversed().map(closeFence), last].join('\n\n');
}

/**
 * Splits at lines or words. The `sent` characters that were streamed stay in the first message. A code block that is cut is closed,
 * and opened again in the next message; a code span is not cut.
 */
function split(text: string, sent: number): string[] {
  const parts: string[] = [];
  let rest = text;
  for (let room = Math.max(roomIn(rest), sent); rest.length > room; room = roomIn(rest)) {
    const kept = parts.length === 0 ? sent : 0;
    const [part, after] = divide(rest, cutBefore(rest, room, kept), kept);
    parts.push(part);
    rest = after;
  }
  return rest.trim() === '' ? parts : [...parts, rest];
}

/** Divides a text at a cut. No half is left with a code block that has no end, no start or no line. */
function divide(text: string, cut: number, kept: number): readonly [string, string] {
  const part = text.slice(0, cut);
  const after = text.slice(cut);
  const fence = openFenceIn(part);
  if (fence === undefined) return [part, after];
  const lineStart = part.lastIndexOf('\n');
  if (lineStart > 0 && openFenceIn(part.slice(0, lineStart)) === undefined) {
    const at = Math.max(lineStart, kept);
    return [text.slice(0, at), text.slice(at)];
  }
  if (after.trim() === '') return [part, ''];
  const { close, open } = fenceLines(fence);
  // A streamed part ends where its next line starts, and has no line of code there.
  const isAtStart = part.endsWith('\n') && !after.startsWith('\n');
  const closed = `${part}${isAtStart ? '' : '\n'}${close}`;
  const [next = '', following = ''] = after.split('\n', 2);
  if (isAtStart && fencedLine(fence, next).kind === 'closed') return [closed, after.slice(next.length)];
  if (after.startsWith('\n') && fencedLine(fence, following).kind === 'closed')
    return [closed, after.slice(1 + following.length)];
  return [closed, `${open}${after.startsWith('\n') ? '' : '\n'}${after}`];
}

/** Finds the last end of a line, or else of a word outside code, up to `room`; the first `kept` characters stay together. */
function cutBefore(text: string, room: number, kept: number): number {
  const least = Math.max(Math.floor(room / 2), kept);
  const atLine = text.lastIndexOf('\n', room);
  if (atLine >= least) return atLine;
  const before = text.slice(0, Math.max(atLine, 0));
  // Nothing but a fence before the cut would be the same text again.
  if (atLine >= kept && openFenceIn(before) !== undefined && before.includes('\n')) return atLine;
  // The streamed part ends before a line of code, which may be the last one, and the line fits beside it.
  const lineEnd = endOfLine(text, kept);
  if (kept > 0 && openFenceIn(text.slice(0, kept)) !== undefined && fits(text.slice(0, lineEnd)))
    return lineEnd;
  // The streamed part ends with a line; the next one may begin a block, which a cut would break.
  if (kept === least && atLine === kept - 1) return kept;
  for (let at = text.lastIndexOf(' ', room); at >= least && at > 0; ) {
    const unbroken = beginsBlock(text, at) ? at : spanAround(text, at);
    if (unbroken === undefined) return at;
    at = text.lastIndexOf(' ', unbroken - 1);
  }
  const cut = Math.max(wholeUntil(text, room), least);
  const span = spanAround(text, cut);
  if (span !== undefined && span >= kept && text.slice(0, span).trim() !== '') return span;
  const wordEnd = cut + text.slice(cut).search(/(?<=\S)(?=\s)|$/);
  return beginsBlock(text, cut) && fits(text.slice(0, wordEnd)) ? wordEnd : cut;
}

/** Tells whether words within a line would begin a code block, a list, a quote or a heading if a message began with them. */
function beginsBlock(text: string, at: number): boolean {
  if (text.charAt(at - 1) === '\n') return false;
  const line = text.slice(at, endOfLine(text, at));
  return BLOCK_START.test(line) || openedFence(line) !== undefined;
}

function fits(text: string): boolean {
  return sanitizeMarkdown(text).length <= limits.markdownText;
}

/** Returns the start of the code span that a cut would split. */
function spanAround(text: string, at: number): number | undefined {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  let position = start;
  for (const { isCode, text: piece } of inlinePieces(text.slice(start, endOfLine(text, at)), false)) {
    if (isCode && at > position && at < position + piece.length) return position;
    position += piece.length;
  }
  return undefined;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** Finds a cut that does not split an emoji or a letter with its marks, whose halves would be shown as codes. */
function wholeUntil(text: string, room: number): number {
  return new Intl.Segmenter().segment(text.slice(0, room + 1)).containing(room)?.index ?? room;
}

/** Returns how many characters fit into one message; sanitizing can make a text longer. */
function roomIn(text: string): number {
  let room: number = limits.replyText;
  while (!fits(text.slice(0, room))) room = Math.floor(room / 2);
  return room;
}

/** Drops messages beyond the limit, which would push everything else out of the thread; the record has the whole text. */
function limit(parts: readonly string[]): readonly string[] {
  if (parts.length <= limits.replyMessages) return parts;
  const left = parts.slice(limits.replyMessages).reduce((sum, { length }) => sum + length, 0);
  return [...parts.slice(0, limits.replyMessages), `(${plural(left, 'more character')} not shown)`];
}

/** Builds the notices for calls that were refused without asking anybody: one per reason. The reason may hold untrusted text. */
export function refusalRows(
  turn: Pick<ClaimedTurn, 'threadId' | 'token'>,
  refused: readonly RefusedCall[],
  requester: string,
): OutboxRow[] {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  return refused.flatMap(({ metadata: { interruptId, reason } }, place) => {
    const alike = refused.filter(({ metadata }) => metadata.reason === reason);
    if (alike[0] !== refused[place]) return [];
    const text = noticeTexts.didNotRun(titlesOf(alike), showLabel(reason, limits.quoteCharacters));
    return [
      {
        id: `${turn.threadId}/${turn.token}/refused-${interruptId}`,
        body: { kind: 'plain', channel, threadTs, text, requester },
      },
    ];
  });
}

/** Lists the called tools in words, each once, with its number of calls if there were several. */
function titlesOf(calls: readonly RefusedCall[]): string {
  const names = calls.map(({ toolRequest }) => toolRequest.name);
  const shown = [...new Set(names)].map((name) => {
    const times = names.filter((other) => other === name).length;
    const title = readableName(name);
    return times === 1 ? title : noticeTexts.calls(title, times);
  });
  return showLabel(shown.join(', '), limits.label);
}

const Rated = z
  .string()
  .transform((value) => value.split(' '))
  .pipe(z.tuple([z.enum(['good', 'bad']), z.string(), z.string()]))
  .transform(([verdict, threadId, answer]) => ({ verdict, threadId, answer }));

/** Builds the buttons with which people say whether an answer helped; `answer` is its thread and its id in it. */
export function feedbackBlock(answer: string): ContextActionsBlock {
  const button = (verdict: 'good' | 'bad') => ({
    text: plain(replyTexts.feedback[verdict]),
    accessibility_label: replyTexts.feedback[verdict],
    value: `${verdict} ${answer}`,
  });
  return {
    type: 'context_actions',
    elements: [
      {
        type: 'feedback_buttons',
        action_id: FEEDBACK,
        positive_button: button('good'),
        negative_button: button('bad'),
      },
    ],
  };
}

/** Reads the value of a feedback button; `undefined` if it is none. */
export function parseFeedback(value: unknown): z.output<typeof Rated> | undefined {
  return Rated.safeParse(value).data;
}

/** Builds a notice about a request with an id per occasion, so that the next reminder is a new message and a resent one is not. */
export function titledRow(
  request: RequestRecord,
  kind: string,
  { lead, tail }: { readonly lead: string; readonly tail: string },
  people: readonly string[],
  occasion = Date.now(),
): OutboxRow {
  const place = placeIn(request.threadId);
  const title = titleOf(request);
  return {
    id: `${request.id}/${kind}/${occasion}`,
    body: { kind: 'titled', request: request.id, ...place, text: lead, title, tail, people: [...people] },
  };
}
