import type { SentPayload } from '../../playground/slack/web-api/sent-payloads.ts';
import { parseMarkdown } from '../../playground/web/src/blocks/text/parse-markdown.ts';
import { parseMrkdwn } from '../../playground/web/src/blocks/text/parse-mrkdwn.ts';
import { type Inline, plainTextOf } from '../../playground/web/src/blocks/text/passages.ts';
import { readLine } from '../bot/views/cards/read-rendered.ts';
import { piecesIn } from '../playground/web/blocks/reading.ts';
import { ASKED, PAYLOAD, TEXTS } from './corpus.ts';

type Node = Readonly<Record<string, unknown>>;

/** Our own live parts: people and groups that a record names, and links to our own threads. */
export interface Known {
  readonly ids: readonly string[];
  readonly links: RegExp;
}

const UNSEEN = '[[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]--[\\n]]';
const UNSEEN_OR_EMOJI = new RegExp(`\\p{RGI_Emoji}|(${UNSEEN}|\\p{M}{6,})`, 'gv');
/** The parts of a message or a view that people read, whatever they are called there. */
const READ = ['text', 'initial_value', 'fallback', 'alt_text', 'accessibility_label', 'title', 'description'];
/** Our own notices' code spans: a tool's name, a command, a callback address. */
const OWN_CODE =
  /^(?:[\w-]{1,64}|\/countersign(?: [a-z]+(?: @Bob until Friday| …|(?: \[(?:tool \| all|--model|reason)\])+)?)?|https?:\/\/\S+\/callback\/[\w.-]+)$/;
/** A value in quotes, in which every quote of its own is escaped. */
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
/** A single word among the values of a title by default, each behind the name of its argument. */
const WORD =
  /(?<=^[A-Z][a-z ]*: (?:(?:note|amount|data|row) (?:[\w./@#+-]+|""), ){0,2}(?:note|amount|data|row) )[\w./@#+-]+(?=[,?]|$)/g;
/** Our words before what another system has yet to report. */
const REPORT = /^Waiting for: /;
/** Of a card that can be signed: more would push what is signed out of sight. */
const MOST_LINES = 120;

/** All that is wrong with what was shown to people in Slack: each is one sentence with the words it is about. */
export function wrongIn(payloads: readonly SentPayload[], known: Known): string[] {
  return payloads.flatMap(({ name, payload, error }) => [
    ...(error === undefined || isClosed(name, error) ? [] : [`${name}: Slack refused it: ${error}`]),
    ...wrongInPayload(payload, known).map((wrong) => `${name}: ${wrong}`),
  ]);
}

/** A person may close a view while it is brought up to date. */
function isClosed(name: string, error: string): boolean {
  return name === 'views.update' && error === 'not_found';
}

/** The same for one message, view or answer. */
export function wrongInPayload(payload: Node, known: Known): string[] {
  const view = isNode(payload.view) ? payload.view : {};
  const blocks = payload.blocks ?? view.blocks ?? [];
  const hasBlocks = Array.isArray(blocks) && blocks.length > 0;
  const chunks = Array.isArray(payload.chunks) ? payload.chunks.filter(isNode) : [];
  return [
    ...wrongFallback(payload.text, { isShown: !hasBlocks, known }),
    ...chunks.flatMap(wrongChunk),
    ...(typeof payload.markdown_text === 'string' ? wrongMarkdown(payload.markdown_text) : []),
    ...[payload.status, ...Object.values(isNode(payload.errors) ? payload.errors : {})].flatMap((words) =>
      typeof words === 'string' ? hiddenIn(words) : [],
    ),
    ...nodesIn(blocks).flatMap((node) => wrongInNode(node, known)),
    ...wrongPlaces(blocks),
    ...(isMessage(payload) ? tooManyLines(blocks) : []),
  ];
}

function wrongFallback(
  text: unknown,
  { isShown, known }: { readonly isShown: boolean; readonly known: Known },
): string[] {
  if (typeof text !== 'string') return [];
  const passages = parseMrkdwn(text);
  const live = piecesIn(passages).filter((piece) => isAlive(piece, known));
  const boxes = isShown ? passages.filter(({ kind }) => kind !== 'paragraph') : [];
  // Beside blocks it is what a notification reads out: there an asterisk is an asterisk.
  const alive = isShown ? live : live.filter(({ kind }) => pings(kind));
  return [
    ...(text.trim() === '' ? ['the text says nothing'] : []),
    ...[...alive, ...boxes].map((piece) => `alive in the text: ${short(JSON.stringify(piece))}`),
    ...hiddenIn(text),
  ];
}

function pings(kind: Inline['kind']): boolean {
  return ['user', 'group', 'channel', 'broadcast', 'date'].includes(kind);
}

function isAlive(piece: Inline, known: Known): boolean {
  switch (piece.kind) {
    case 'text':
    case 'break':
      return false;
    case 'code':
      return !OWN_CODE.test(piece.text);
    case 'user':
    case 'group':
    case 'channel':
      return !known.ids.includes(piece.id);
    case 'link':
      return !known.links.test(piece.url);
    default:
      return true;
  }
}

/** Our own markup holds people we know, dates and words of ours in bold; never somebody else's words. */
function wrongMarkup(text: string, known: Known): string[] {
  const pieces = piecesIn(parseMrkdwn(text));
  const isOurs = (piece: Inline) =>
    piece.kind === 'date' || (piece.kind === 'styled' && piece.style === 'bold') || !isAlive(piece, known);
  return pieces.every(isOurs) && !text.includes(PAYLOAD) ? [] : [`a text is read as markup: ${short(text)}`];
}

/** The model's own Markdown may be formatted, and may hold addresses that are seen; it reaches nobody and hides nothing. */
function wrongMarkdown(text: string): string[] {
  const alive = piecesIn(parseMarkdown(text)).flatMap((piece) => {
    if (piece.kind === 'link' && plainTextOf(piece.content) === piece.url) return [];
    if (piece.kind === 'link' || pings(piece.kind)) return [`alive in a reply: ${JSON.stringify(piece)}`];
    return [];
  });
  return [...alive, ...hiddenIn(text)];
}

/** A part of a streamed reply: the model's Markdown, or a step with our plain words. */
function wrongChunk(chunk: Node): string[] {
  if (chunk.type === 'markdown_text') return wrongMarkdown(String(chunk.text));
  return [chunk.title, chunk.details].flatMap((words) => (typeof words === 'string' ? hiddenIn(words) : []));
}

function wrongInNode(node: Node, known: Known): string[] {
  const { type } = node;
  const said = READ.flatMap((part) => (typeof node[part] === 'string' ? [node[part]] : []));
  const wrong = type === 'markdown' ? [] : said.flatMap(hiddenIn);
  switch (type) {
    case 'markdown':
      return wrongMarkdown(String(node.text));
    case 'mrkdwn':
      return [...wrong, ...wrongMarkup(String(node.text), known)];
    case 'plain_text':
      return node.emoji === false ? wrong : [...wrong, `emoji are drawn in: ${short(String(node.text))}`];
    case 'user':
    case 'usergroup':
      return known.ids.includes(String(node.user_id ?? node.usergroup_id))
        ? wrong
        : [...wrong, `a mention of a stranger: ${JSON.stringify(node)}`];
    case 'link':
      return known.links.test(String(node.url)) ? wrong : [...wrong, `a link: ${JSON.stringify(node)}`];
    case 'emoji':
    case 'broadcast':
    case 'channel':
    case 'team':
    case 'color':
    case 'image':
      return [...wrong, `alive: ${JSON.stringify(node)}`];
    default:
      return wrong;
  }
}

/** A line of our own never holds somebody else's words: those stand in a box, in a quote, or by themselves in plain text or as a heading. */
function wrongPlaces(blocks: unknown): string[] {
  return (
    nodesIn(blocks)
      .filter(({ type }) => type === 'rich_text_section' || type === 'header')
      .flatMap((node) => textsBesideHeading(withoutChange(node)))
      // A short value in a title by default stands in quotes, or is a single word.
      .filter((text) => withoutValues(text).includes(PAYLOAD) && !text.startsWith('What this does: '))
      .map((text) => `somebody else's words in a line of ours: ${short(text)}`)
  );
}

/** Leaves out the values that are set off from our words. Only quotes around the whole of what somebody sent are ours. */
function withoutValues(text: string): string {
  return text.replaceAll(QUOTED, (quoted) => (isWhole(quoted) ? '""' : quoted)).replaceAll(WORD, '');
}

function isWhole(quoted: string): boolean {
  const plain = quoted.replace(/\\u\{([0-9a-f]+)\}/g, (_, code: string) =>
    JSON.stringify(String.fromCodePoint(Number.parseInt(code, 16))).slice(1, -1),
  );
  try {
    const value = String(JSON.parse(plain));
    const isNumbered = value.replace(/ \d+$/, '') === PAYLOAD;
    return isNumbered || TEXTS.some(({ text }) => [text, oneLine(text)].includes(value));
  } catch {
    return false;
  }
}

/** The texts without what is asked, which is the heading of its card; on a settled card it stands in bold. */
function textsBesideHeading(value: unknown): string[] {
  return nodesIn(value).flatMap(({ text, type, style }) => {
    if (typeof text !== 'string') return [];
    const isHeading = type === 'plain_text' || (isNode(style) && style.bold === true);
    return isHeading && isAlone(text) ? [] : [text];
  });
}

/** The same with its hidden characters spelled out. */
function isAlone(heading: string): boolean {
  const text = readLine(heading.replace(REPORT, ''));
  return (
    ASKED.some((asked) => asked === text) ||
    TEXTS.some((item) => [item.text, oneLine(item.text)].includes(text))
  );
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Leaves out the two values of an edited argument: the former one struck through, and the new one in bold after an arrow. */
function withoutChange(node: Node): unknown {
  const elements = Array.isArray(node.elements) ? node.elements.filter(isNode) : [];
  const arrow = elements.findIndex(({ text }) => text === ' → ');
  const [before, after] = [elements[arrow - 1], elements[arrow + 1]];
  const hasStyle = (each: Node | undefined, style: string) =>
    isNode(each?.style) && each.style[style] === true;
  const isChange = hasStyle(before, 'strike') && hasStyle(after, 'bold');
  return isChange ? elements.filter((each) => each !== before && each !== after) : node;
}

function tooManyLines(blocks: unknown): string[] {
  const lines = textsIn(blocks).reduce((sum, text) => sum + text.split('\n').length, 0);
  const isSigned = nodesIn(blocks).some(({ action_id }) => action_id === 'approve');
  return isSigned && lines > MOST_LINES ? [`${lines} lines stand above Approve`] : [];
}

function isMessage({ view, channel }: Node): boolean {
  return view === undefined && channel !== undefined;
}

function hiddenIn(text: string): string[] {
  const found = [...text.matchAll(UNSEEN_OR_EMOJI)].flatMap(([, unseen]) => unseen ?? []);
  if (found.length === 0) return [];
  const codes = [...new Set(found)].map((each) => (each.codePointAt(0) ?? 0).toString(16));
  return [`hidden characters (${codes.slice(0, 5).join(' ')}) in: ${short(JSON.stringify(text))}`];
}

/** Every object of a payload. */
export function nodesIn(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (!isNode(value)) return [];
  return [value, ...Object.values(value).flatMap(nodesIn)];
}

/** All text of a payload that somebody reads, in order. */
export function textsIn(value: unknown): string[] {
  return nodesIn(value).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function short(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
