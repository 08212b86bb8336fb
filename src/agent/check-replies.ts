import { z } from 'zod';
import { ReplyError, type ReplyErrorCode } from './errors.ts';
import { canonicalJson, isJsonObject, type JsonValue } from './json.ts';
import type { CallPart, Interrupt } from './messages.ts';
import type { ReplacedInput } from './outcomes.ts';
import { CloseReply, checkInput, checkOutput, RespondReply, RestartReply, type Resume } from './replies.ts';
import type { Restarted } from './run-call.ts';
import type { Tool } from './tool.ts';
import { Transcript } from './transcript.ts';

/** A reply that may be carried out. */
export type CheckedReply =
  | {
      readonly kind: 'respond';
      readonly call: CallPart;
      readonly output: JsonValue;
      readonly replaced: ReplacedInput | undefined;
    }
  | {
      readonly kind: 'close';
      readonly call: CallPart;
      readonly status: string;
      readonly reason: string;
      readonly replaced: ReplacedInput | undefined;
    }
  | { readonly kind: 'restart'; readonly call: CallPart; readonly tool: Tool; readonly restarted: Restarted };

const ReplyLists = z.strictObject({
  respond: z.array(z.unknown()).optional(),
  restart: z.array(z.unknown()).optional(),
  close: z.array(z.unknown()).optional(),
});

/** Checks all replies against what waits, before any tool runs; with `all`, also that nothing is left without one. */
export function checkReplies(
  transcript: Transcript,
  tools: ReadonlyMap<string, Tool>,
  resume: Resume,
  { all }: { readonly all: boolean },
): CheckedReply[] {
  if (Object.keys(resume).length === 0) {
    if (all) refuseMissing(transcript, new Set());
    return [];
  }
  const checked = new Map<string, CheckedReply>();
  const add = (reply: CheckedReply): void => {
    checked.set(reply.call.toolRequest.ref, reply);
  };
  const taken = new Set<string>();
  const lists = parseReply(ReplyLists, resume, 'resume');
  for (const candidate of lists.respond ?? []) {
    const reply = parseReply(RespondReply, candidate, 'resume.respond');
    const { call, interrupt } = findWaiting(
      transcript,
      reply.toolResponse,
      reply.metadata.interruptId,
      taken,
    );
    const tool = findTool(tools, call);
    const output = checkOutput(tool, call.toolRequest.ref, reply.toolResponse.output);
    add({ kind: 'respond', call, output, replaced: replacedBefore(call, interrupt) });
  }
  for (const candidate of lists.restart ?? []) {
    const reply = parseReply(RestartReply, candidate, 'resume.restart');
    const { call, interrupt } = findWaiting(transcript, reply.toolRequest, reply.metadata.interruptId, taken);
    const tool = findTool(tools, call);
    if (tool.kind === 'interrupt') {
      throw refusal(
        'not-restartable',
        call.toolRequest,
        `"${tool.name}" has no function to run again; use respond`,
      );
    }
    const { resumed, nested } = reply.metadata;
    checkNestedReplies(interrupt, nested ?? {});
    const replaced = replacedBy(reply, call, interrupt, tool);
    add({
      kind: 'restart',
      call,
      tool,
      restarted: {
        resumed: resumed ?? interrupt.resumed,
        replaced,
        nested: interrupt.nested && { before: interrupt.nested, replies: nested ?? {} },
      },
    });
  }
  for (const candidate of lists.close ?? []) {
    const { toolRequest, metadata } = parseReply(CloseReply, candidate, 'resume.close');
    const { call, interrupt } = findWaiting(transcript, toolRequest, metadata.interruptId, taken);
    const { status, reason } = metadata;
    add({ kind: 'close', call, status, reason, replaced: replacedBefore(call, interrupt) });
  }
  if (all) refuseMissing(transcript, taken);
  return [...transcript.round.keys()].flatMap((ref) => checked.get(ref) ?? []);
}

function parseReply<Reply>(
  schema: {
    safeParse(
      value: unknown,
    ):
      | { success: true; data: Reply }
      | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
  },
  value: unknown,
  place: string,
): Reply {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  const { tool, ref } = namesIn(value);
  const whose = tool === undefined || ref === undefined ? '' : `Tool "${tool}", call ${ref}: `;
  const message = `${whose}${place} is malformed at "${field}": ${issue?.message}`;
  throw new ReplyError('malformed-reply', message, {
    ...(tool !== undefined && { tool }),
    ...(ref !== undefined && { ref }),
    field,
  });
}

/** The tool and the ref of a reply of which nothing is certain. */
function namesIn(reply: unknown): { tool?: string | undefined; ref?: string | undefined } {
  const about = isJsonObject(reply) ? (reply.toolRequest ?? reply.toolResponse) : undefined;
  if (!isJsonObject(about)) return {};
  const { name, ref } = about;
  return {
    tool: typeof name === 'string' ? name : undefined,
    ref: typeof ref === 'string' ? ref : undefined,
  };
}

function findWaiting(
  transcript: Transcript,
  reply: { readonly name: string; readonly ref: string },
  interruptId: string,
  taken: Set<string>,
): { call: CallPart; interrupt: Interrupt<string, JsonValue> } {
  const call = transcript.round.get(reply.ref);
  if (call === undefined || call.state === 'open') {
    if (transcript.knows(reply.ref))
      throw refusal('already-settled', reply, 'it was settled in an earlier round');
    throw refusal('unknown-request', reply, 'no such call is in these messages');
  }
  const asked = call.part.toolRequest.name;
  if (asked !== reply.name) throw refusal('wrong-tool', reply, `that call is one of "${asked}"`, 'name');
  if (call.state === 'settled') throw refusal('already-settled', reply, 'it has its result already');
  if (taken.has(reply.ref)) throw refusal('repeated-reply', reply, 'two replies were given for it');
  if (call.interrupt.id !== interruptId) {
    throw refusal(
      'stale-reply',
      reply,
      'the reply was made for another pause than the one that waits',
      'interruptId',
    );
  }
  taken.add(reply.ref);
  return { call: call.part, interrupt: call.interrupt };
}

function findTool(tools: ReadonlyMap<string, Tool>, call: CallPart): Tool {
  const { name } = call.toolRequest;
  const tool = tools.get(name);
  if (tool === undefined)
    throw refusal('unknown-tool', call.toolRequest, 'the tool is not among the given tools', 'name');
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
    throw refusal(
      'changed-input',
      { name, ref },
      'its input is not the one that waits; use replaceInput to change it',
      'input',
    );
  }
  return replacedBefore(call, interrupt);
}

/** The inner replies are checked here, before the outer siblings run; their schemas are checked where their tools are known. */
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
    .map((run) => ({ transcript: Transcript.of(run.messages), taken: new Set<string>() }));
  for (const reply of replies) {
    const home = waiting.find(({ transcript }) =>
      transcript.interrupts.some(({ id }) => id === reply.interruptId),
    );
    if (home === undefined) throw refusal('unknown-request', reply, 'no inner call waits for this reply');
    const found = findWaiting(home.transcript, reply, reply.interruptId, home.taken);
    checkNestedReplies(found.interrupt, reply.inner);
  }
  for (const { transcript, taken } of waiting) refuseMissing(transcript, taken);
}

function refuseMissing(transcript: Transcript, taken: ReadonlySet<string>): void {
  const missing = transcript.interrupts.find(({ toolRequest }) => !taken.has(toolRequest.ref));
  if (missing !== undefined) throw refusal('missing-reply', missing.toolRequest, 'it waits and has no reply');
}

function refusal(
  code: ReplyErrorCode,
  { name, ref }: { readonly name: string; readonly ref: string },
  problem: string,
  field?: string,
): ReplyError {
  return new ReplyError(code, `Tool "${name}", call ${ref}: ${problem}`, {
    tool: name,
    ref,
    ...(field !== undefined && { field }),
  });
}
