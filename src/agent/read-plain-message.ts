import { isJsonObject, tryParseJson } from './json.ts';
import type { Message, ModelMessage, ResponseStatus } from './messages.ts';

/** A text as JSON has it; loops are unrolled, so that a long one takes one pass. */
const TEXT = String.raw`"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"`;
const COUNT = String.raw`(0|[1-9]\d{0,14})`;

const USER = new RegExp(
  String.raw`^\{"v":1,"role":"user","content":\[\{"text":(${TEXT})\}\](?:,"metadata":\{"user":(${TEXT})\})?\}$`,
);
const MODEL = new RegExp(
  String.raw`^\{"v":1,"role":"model","content":\[\{"text":(${TEXT})\}\](?:,"usage":\{"inputTokens":${COUNT},"outputTokens":${COUNT},"totalTokens":${COUNT}\})?\}$`,
);
const CALL = new RegExp(
  String.raw`^\{"v":1,"role":"model","content":\[\{"toolRequest":\{"name":(${TEXT}),"ref":(${TEXT}),"input":([^]*)\},"idempotencyKey":(${TEXT})\}\](?:,"usage":\{"inputTokens":${COUNT},"outputTokens":${COUNT},"totalTokens":${COUNT}\})?\}$`,
);
const RESULT = new RegExp(
  String.raw`^\{"v":1,"role":"tool","content":\[\{"toolResponse":\{"name":(${TEXT}),"ref":(${TEXT}),"output":([^]*)\},"status":"(ok|error|denied|closed)"\}\]\}$`,
);
const PAUSE = new RegExp(
  String.raw`^\{"v":1,"role":"tool","content":\[\{"interrupt":\{"id":(${TEXT}),"toolRequest":\{"name":(${TEXT}),"ref":(${TEXT}),"input":([^]*)\},"metadata":(\{[^]*\})\}\}\]\}$`,
);
const WHOLE_TEXT = new RegExp(`^${TEXT}$`);

/** A message, and its words (what was said, an input or a result) as they stand in JSON, which a model is sent as they are. */
export interface PlainMessage {
  readonly message: Message;
  readonly words?: string;
}

/**
 * Reads the commonest messages, written as we write them, by one look at their text, in a fraction of the time of `JSON.parse` and a
 * check. What it reads, they would read alike; `undefined` says nothing, and every doubt is theirs.
 */
export function readPlainMessage(row: string): PlainMessage | undefined {
  // Where the roles differ in their texts.
  switch (row.charCodeAt(15)) {
    case 0x75:
      return readUser(row);
    case 0x6d:
      return readModel(row) ?? readCall(row);
    case 0x74:
      return readResult(row) ?? readPause(row);
    default:
      return undefined;
  }
}

function readUser(row: string): PlainMessage | undefined {
  const found = USER.exec(row);
  if (found === null) return undefined;
  const words = found[1] ?? '';
  const content = [{ text: textIn(words) }];
  if (found[2] === undefined) return { message: { v: 1, role: 'user', content }, words };
  return { message: { v: 1, role: 'user', content, metadata: { user: textIn(found[2]) } }, words };
}

function readModel(row: string): PlainMessage | undefined {
  const found = MODEL.exec(row);
  if (found === null) return undefined;
  const words = found[1] ?? '';
  return { message: modelMessage([{ text: textIn(words) }], found, 2), words };
}

function readCall(row: string): PlainMessage | undefined {
  const found = CALL.exec(row);
  if (found === null) return undefined;
  const inputText = found[3] ?? '';
  const ref = textIn(found[2]);
  const idempotencyKey = textIn(found[4]);
  // Of several calls the first would seem to go on to the last.
  if (ref === '' || idempotencyKey === '' || inputText.includes('"idempotencyKey"')) return undefined;
  const input = tryParseJson(inputText);
  if (input === undefined) return undefined;
  const content = [{ toolRequest: { name: textIn(found[1]), ref, input }, idempotencyKey }];
  return { message: modelMessage(content, found, 5), words: inputText };
}

function readResult(row: string): PlainMessage | undefined {
  const found = RESULT.exec(row);
  if (found === null) return undefined;
  const words = found[3] ?? '';
  const ref = textIn(found[2]);
  // Of several results the first would seem to go on to the last.
  if (ref === '' || words.includes('"toolResponse"')) return undefined;
  const output = WHOLE_TEXT.test(words) ? textIn(words) : tryParseJson(words);
  if (output === undefined) return undefined;
  const toolResponse = { name: textIn(found[1]), ref, output };
  const status = found[4] as ResponseStatus;
  return { message: { v: 1, role: 'tool', content: [{ toolResponse, status }] }, words };
}

function readPause(row: string): PlainMessage | undefined {
  // Without its end the expression would try every place at which the metadata could begin, each to the end of the text.
  const found = row.endsWith('}}}]}') ? PAUSE.exec(row) : null;
  if (found === null) return undefined;
  const id = textIn(found[1]);
  const ref = textIn(found[3]);
  if (id === '' || ref === '') return undefined;
  // Two texts that are JSON each leave only one way to read the whole.
  const input = tryParseJson(found[4] ?? '');
  const metadata = tryParseJson(found[5] ?? '');
  if (input === undefined || !isJsonObject(metadata)) return undefined;
  const interrupt = { id, toolRequest: { name: textIn(found[2]), ref, input }, metadata };
  return { message: { v: 1, role: 'tool', content: [{ interrupt }] } };
}

/** A model's message with the usage whose three counts begin at a place, if they are there. */
function modelMessage(content: ModelMessage['content'], found: RegExpExecArray, place: number): Message {
  if (found[place] === undefined) return { v: 1, role: 'model', content };
  const usage = {
    inputTokens: Number(found[place]),
    outputTokens: Number(found[place + 1]),
    totalTokens: Number(found[place + 2]),
  };
  return { v: 1, role: 'model', content, usage };
}

function textIn(literal = ''): string {
  return literal.includes('\\') ? JSON.parse(literal) : literal.slice(1, -1);
}
