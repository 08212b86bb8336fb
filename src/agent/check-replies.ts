import { z } from 'zod';
import type { ReplacedInput } from './calls/outcomes.ts';
import type { Restarted } from './calls/run-call.ts';
import { ReplyError, type ReplyErrorCode } from './errors.ts';
import { canonicalJson, isJsonObject, type JsonValue, toJson } from './json.ts';
import { JsonRecord } from './json-schema.ts';
import type { CallPart, Interrupt } from './messages.ts';
import {
  CloseReply,
  checkInput,
  checkOutput,
  checkResumed,
  type Replies,
  RespondReply,
  RestartReply,
  type Resume,
} from './replies.ts';
import { type Tool, waitsForApproval } from './tool.ts';
import { Transcript } from './transcript.ts';

/** A reply that passed all checks. */
export type CheckedReply =
  | {
      readonly kind: 'respond';
      readonly call: CallPart;
      readonly output: JsonValue;
      readonly answeredBy: string | undefined;
      readonly replaced: ReplacedInput | undefined;
    }
  | {
      readonly kind: 'close';
      readonly call: CallPart;
      readonly status: string;
      readonly reason: string;
      readonly replaced: ReplacedInput | undefined;
    }
  | {
      readonly kind: 'restart';
      readonly call: CallPart;
      readonly tool: Tool;
      readonly answeredBy: string | undefined;
      readonly restarted: Restarted;
    };

const OneOrMore = z.union([z.array(z.unknown()), JsonRecord.transform((reply) => [reply])]).optional();
const ReplyLists = z.strictObject({ respond: OneOrMore, restart: OneOrMore, close: OneOrMore });
/** An output that was written by hand names no pause. */
const GivenOutput = RespondReply.partial({ metadata: true });

/** Checks all replies against the calls that wait, before any tool runs; with `all`, every call that waits needs a reply. */
export function checkReplies(
  transcript: Transcript,
  tools: ReadonlyMap<string, Tool>,
  resume: Replies,
  { all }: { readonly all: boolean },
): CheckedReply[] {
  const checked = new Map<string, CheckedReply>();
  const add = (reply: CheckedReply): void => {
    checked.set(reply.call.toolRequest.ref, reply);
  };
  const answered = new Set<string>();
  const lists = parseReply(ReplyLists, sortReplies(copyReplies(resume)), 'resume');
  for (const candidate of lists.respond ?? []) {
    const reply = parseReply(GivenOutput, candidate, 'resume.respond');
    const { call, interrupt } = findInterrupt(
      transcript,
      reply.toolResponse,
      reply.metadata?.interruptId,
      answered,
    );
    const tool = findTool(tools, call);
    const output = checkOutput(tool, call.toolRequest.ref, reply.toolResponse.output);
    const answeredBy = reply.metadata?.answeredBy;
    add({ kind: 'respond', call, output, answeredBy, replaced: replacedBefore(call, interrupt) });
  }
  for (const candidate of lists.restart ?? []) {
    const reply = parseReply(RestartReply, candidate, 'resume.restart');
    const { call, interrupt } = findInterrupt(
      transcript,
      reply.toolRequest,
      reply.metadata.interruptId,
      answered,
    );
    const tool = findTool(tools, call);
    if (tool.kind === 'interrupt') {
      fail('not-restartable', call.toolRequest, `"${tool.name}" has no function to run again; use respond`);
    }
    const { resumed, nested, answeredBy } = reply.metadata;
    // A gate has metadata of its own, and hands on what is the tool's; any restart lets a call run that needs approval.
    const isTools = tool.admit === undefined && !waitsForApproval(interrupt);
    if (resumed !== undefined && isTools) checkResumed(tool, interrupt, resumed);
    checkNestedReplies(interrupt, nested ?? {});
    const replaced = replacedBy(reply, call, interrupt, tool);
    add({
      kind: 'restart',
      call,
      tool,
      answeredBy,
      restarted: {
        resumed: resumed ?? interrupt.resumed,
        replaced,
        nested: interrupt.nested && { before: interrupt.nested, replies: nested ?? {} },
      },
    });
  }
  for (const candidate of lists.close ?? []) {
    const { toolRequest, metadata } = parseReply(CloseReply, candidate, 'resume.close');
    const { call, interrupt } = findInterrupt(transcript, toolRequest, metadata.interruptId, answered);
    const { status, reason } = metadata;
    add({ kind: 'close', call, status, reason, replaced: replacedBefore(call, interrupt) });
  }
  if (all) requireReplies(transcript, answered);
  return [...transcript.round.keys()].flatMap((ref) => checked.get(ref) ?? []);
}

/** Copies the replies, so that a caller who changes them later does not change what runs. */
function copyReplies(resume: Replies): JsonValue {
  try {
    return toJson(resume);
  } catch (cause) {
    throw new ReplyError('malformed-reply', 'resume is not plain JSON', {}, { cause });
  }
}

/** Sorts a reply, or a list of replies, by their kind; what is sorted already stays. */
function sortReplies(given: JsonValue): JsonValue {
  const isOne = isJsonObject(given) && ('toolRequest' in given || 'toolResponse' in given);
  const list = isOne ? [given] : given;
  if (!Array.isArray(list)) return given;
  const kinds = list.map(kindOf);
  const ofKind = (kind: keyof Resume) => list.filter((_reply, index) => kinds[index] === kind);
  return { respond: ofKind('respond'), restart: ofKind('restart'), close: ofKind('close') };
}

function kindOf(reply: JsonValue, index: number): keyof Resume {
  if (isJsonObject(reply)) {
    if ('toolResponse' in reply) return 'respond';
    if (isJsonObject(reply.toolRequest)) return 'input' in reply.toolRequest ? 'restart' : 'close';
  }
  const problem = `resume[${index}] is no reply; make it with respond, restart, approve, reject or closeInterrupt`;
  throw new ReplyError('malformed-reply', problem, { field: `${index}` });
}

function parseReply<Reply>(schema: z.ZodType<Reply>, value: unknown, place: string): Reply {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  const { tool, ref } = readNames(value);
  const owner = tool === undefined || ref === undefined ? '' : `Tool "${tool}", call ${ref}: `;
  const message = `${owner}${place} is malformed at "${field}": ${issue?.message}`;
  throw new ReplyError('malformed-reply', message, {
    ...(tool !== undefined && { tool }),
    ...(ref !== undefined && { ref }),
    field,
  });
}

/** Reads the tool and the ref of a reply that may be malformed. */
function readNames(reply: unknown): { tool?: string | undefined; ref?: string | undefined } {
  const about = isJsonObject(reply) ? (reply.toolRequest ?? reply.toolResponse) : undefined;
  if (!isJsonObject(about)) return {};
  const { name, ref } = about;
  return {
    tool: typeof name === 'string' ? name : undefined,
    ref: typeof ref === 'string' ? ref : undefined,
  };
}

function findInterrupt(
  transcript: Transcript,
  reply: { readonly name: string; readonly ref: string },
  interruptId: string | undefined,
  answered: Set<string>,
): { call: CallPart; interrupt: Interrupt<string, JsonValue> } {
  const call = transcript.round.get(reply.ref);
  if (call === undefined || call.state === 'open') {
    if (transcript.knows(reply.ref)) fail('already-settled', reply, 'it was settled in an earlier round');
    fail('unknown-request', reply, 'no such call is in these messages');
  }
  const asked = call.part.toolRequest.name;
  if (asked !== reply.name) fail('wrong-tool', reply, `that call is one of "${asked}"`, 'name');
  if (call.state === 'settled') fail('already-settled', reply, 'it has its result already');
  if (answered.has(reply.ref)) fail('repeated-reply', reply, 'two replies were given for it');
  if (interruptId !== undefined && call.interrupt.id !== interruptId) {
    fail('stale-reply', reply, 'the reply was made for another pause than the one that waits', 'interruptId');
  }
  answered.add(reply.ref);
  return { call: call.part, interrupt: call.interrupt };
}

function findTool(tools: ReadonlyMap<string, Tool>, call: CallPart): Tool {
  const { name } = call.toolRequest;
  const tool = tools.get(name);
  if (tool === undefined)
    fail('unknown-tool', call.toolRequest, 'the tool is not among the given tools', 'name');
  return tool;
}

function replacedBefore(call: CallPart, interrupt: Interrupt<string, JsonValue>): ReplacedInput | undefined {
  const original = call.toolRequest.input;
  const ran = interrupt.toolRequest.input;
  return canonicalJson(ran) === canonicalJson(original) ? undefined : { ran, original };
}

function replacedBy(
  reply: RestartReply,
  call: CallPart,
  interrupt: Interrupt<string, JsonValue>,
  tool: Tool,
): ReplacedInput | undefined {
  const { name, ref, input } = reply.toolRequest;
  if (reply.metadata.replacedInput !== undefined) {
    return { ran: checkInput(tool, ref, input), original: call.toolRequest.input };
  }
  if (canonicalJson(input) !== canonicalJson(interrupt.toolRequest.input)) {
    fail(
      'changed-input',
      { name, ref },
      'its input is not the one that waits; use replaceInput to change it',
      'input',
    );
  }
  return replacedBefore(call, interrupt);
}

/** Checks the replies to inner interrupts before any outer call runs; their schemas are checked later, where the inner tools are known. */
function checkNestedReplies(interrupt: Interrupt<string, JsonValue>, nested: Resume): void {
  const replies = [
    ...(nested.respond ?? []).map((reply) => ({
      ...reply.toolResponse,
      interruptId: reply.metadata.interruptId,
      inner: {},
    })),
    ...(nested.restart ?? []).map((reply) => ({
      ...reply.toolRequest,
      interruptId: reply.metadata.interruptId,
      inner: reply.metadata.nested ?? {},
    })),
    ...(nested.close ?? []).map((reply) => ({
      ...reply.toolRequest,
      interruptId: reply.metadata.interruptId,
      inner: {},
    })),
  ];
  const waiting = (interrupt.nested ?? [])
    .filter((run) => run.finishReason === 'interrupted')
    .map((run) => ({ transcript: Transcript.of(run.messages), answered: new Set<string>() }));
  for (const reply of replies) {
    const home = waiting.find(({ transcript }) =>
      transcript.interrupts.some(({ id }) => id === reply.interruptId),
    );
    if (home === undefined) fail('unknown-request', reply, 'no inner call waits for this reply');
    const found = findInterrupt(home.transcript, reply, reply.interruptId, home.answered);
    checkNestedReplies(found.interrupt, reply.inner);
  }
  for (const { transcript, answered } of waiting) requireReplies(transcript, answered);
}

function requireReplies(transcript: Transcript, answered: ReadonlySet<string>): void {
  const missing = transcript.interrupts.find(({ toolRequest }) => !answered.has(toolRequest.ref));
  if (missing !== undefined) fail('missing-reply', missing.toolRequest, 'it waits and has no reply');
}

function fail(
  code: ReplyErrorCode,
  { name, ref }: { readonly name: string; readonly ref: string },
  problem: string,
  field?: string,
): never {
  throw new ReplyError(code, `Tool "${name}", call ${ref}: ${problem}`, {
    tool: name,
    ref,
    ...(field !== undefined && { field }),
  });
}
