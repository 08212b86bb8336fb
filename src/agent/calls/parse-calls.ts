import { createHash, randomUUID } from 'node:crypto';
import { isDeeperThan, type JsonValue, tryParseJson } from '../json.ts';
import type { CallPart, ToolPart } from '../messages.ts';
import type { ModelFinish, RawCall } from '../model.ts';
import { effectiveInput } from '../schema/compile-schema.ts';
import { findLossyNumber } from '../schema/lossy-number.ts';
import type { Tool } from '../tool.ts';
import type { Transcript } from '../transcript.ts';
import { deniedPart, errorPart } from './outcomes.ts';

/** A call that may run, or one that is answered without a run. */
export type ParsedCall =
  | { readonly verdict: 'runnable'; readonly part: CallPart; readonly tool: Tool }
  | { readonly verdict: 'refused'; readonly part: CallPart; readonly answer: ToolPart };

/** No tool needs deeper arguments, and they would overflow recursive code. */
const MAX_DEPTH = 64;
const SHOWN_OF_ARGUMENTS = 200;
/** OpenAI refuses longer ids, and a history may move from a server that uses them to one that does not. */
const LONGEST_REF = 40;

/** Checks all calls of one model message before any of them runs. */
export function parseCalls(
  calls: readonly RawCall[],
  finish: ModelFinish,
  transcript: Transcript,
  tools: ReadonlyMap<string, Tool>,
): ParsedCall[] {
  const refs = new Set<string>();
  return calls.map((call) => {
    const own = call.id.length <= LONGEST_REF ? call.id : shortRef(call.id);
    const repeats = transcript.knows(own) || refs.has(own);
    const ref = own === '' || repeats ? freshRef() : own;
    refs.add(ref);
    const parsed = parseArguments(call.arguments);
    const tool = tools.get(call.name);
    const input =
      parsed.ok && tool !== undefined ? effectiveInput(tool.inputSchema, parsed.value) : parsed.value;
    const part = { toolRequest: { name: call.name, ref, input }, idempotencyKey: randomUUID() };
    const refuse = (problem: string): ParsedCall => ({
      verdict: 'refused',
      part,
      answer: errorPart(part, `Not run: ${problem}`),
    });

    if (finish === 'length') return refuse('the call was cut off by the length limit; make it shorter');
    if (finish === 'content-filter') return refuse('the answer was stopped by the content filter');
    if (repeats) return refuse(`the call id "${call.id}" was used before; every call needs an id of its own`);
    if (tool === undefined)
      return refuse(`there is no tool "${call.name}"; there are: ${[...tools.keys()].join(', ')}`);
    if (!parsed.ok) return refuse(parsed.problem);
    const fit = tool.inputSchema.parse(input);
    if (!fit.ok) {
      return refuse(
        `the arguments do not fit the schema of "${call.name}"${fit.field && ` at "${fit.field}"`}: ${fit.problem}`,
      );
    }
    const denial = transcript.denialOf(call.name, input);
    if (denial !== undefined) {
      return {
        verdict: 'refused',
        part,
        answer: deniedPart(part, `${denial} (this call was denied before; it was not asked again)`),
      };
    }
    return { verdict: 'runnable', part, tool };
  });
}

/** A UUID with its dashes and the prefix would have 41 characters. */
function freshRef(): string {
  return `call_${randomUUID().replaceAll('-', '')}`;
}

/** Gives the same short ref for the same long id, so that a repeated id is still found. */
function shortRef(id: string): string {
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

type Arguments =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly value: JsonValue; readonly problem: string };

function parseArguments(text: string): Arguments {
  // Several servers send an empty text for a call without arguments.
  if (text.trim() === '') return { ok: true, value: {} };
  const value = tryParseJson(text);
  if (value === undefined) {
    return { ok: false, value: {}, problem: `the arguments are not valid JSON: ${startOf(text)}` };
  }
  if (isDeeperThan(MAX_DEPTH, value)) {
    return { ok: false, value: {}, problem: `the arguments are nested more than ${MAX_DEPTH} levels deep` };
  }
  const lossy = findLossyNumber(text);
  if (lossy !== undefined) {
    const problem = `the number ${startOf(lossy.literal)} at "${startOf(lossy.path)}" cannot be kept exactly; send it as a string`;
    return { ok: false, value: {}, problem };
  }
  return { ok: true, value };
}

function startOf(text: string): string {
  return text.length > SHOWN_OF_ARGUMENTS ? `${text.slice(0, SHOWN_OF_ARGUMENTS)}…` : text;
}
