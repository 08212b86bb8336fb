import { nestedInterrupts } from '../../agent/calls/nested.ts';
import { isOutcomeUnknown } from '../../agent/errors.ts';
import { type JsonObject, toJson } from '../../agent/json.ts';
import type { Interrupt, ResponsePart } from '../../agent/messages.ts';
import { buildRestart, type RestartReply } from '../../agent/replies.ts';
import { settle } from '../../agent/settle.ts';
import type { Tool } from '../../agent/tool.ts';
import { inSpan } from '../../observe/tracing.ts';
import type { Outcome, RequestRecord } from '../../store/port/store.ts';
import type { GateResumed } from '../../tools/gate/gate.ts';
import type { ToolEntry } from '../../tools/toolbox/toolbox.ts';
import type { BotContext } from '../context.ts';
import { describePause } from '../elicitation/people-asked.ts';
import { threadFiles } from '../files/thread-files.ts';
import { giveBackLimits, type LimitedCall } from '../limits/reserve-limits.ts';
import { type Details, detailsOf, messagesOf } from '../requests/request-details.ts';
import { runTurn } from '../turns/run-turn.ts';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';
import { toolContext } from './tool-context.ts';

/** An approved request with the tool that runs it. */
export interface Action {
  readonly request: RequestRecord;
  readonly details: Details;
  readonly entry: ToolEntry;
}

/** Returns an action as its limits count it. */
export function limitedCallOf({ request, details, entry }: Action): LimitedCall {
  const { threadId, requesters } = request;
  const { ref, input } = details.interrupt.toolRequest;
  return { entry, input: toJson(input), requesters, threadId, ref };
}

/** Gives back what an action counted that had no effect after all. */
export async function giveBackAction(
  { store, toolbox }: Pick<BotContext, 'store' | 'toolbox'>,
  request: RequestRecord,
): Promise<void> {
  const details = detailsOf(request);
  const entry = toolbox.find(details.interrupt.toolRequest.name);
  if (entry !== undefined) await giveBackLimits(store, limitedCallOf({ request, details, entry }));
}

/** An attempt that is on record as started. */
export interface StartedAttempt {
  readonly attempt: string;
  /** When the start was sent, by this process's monotonic clock. */
  readonly sentAt: number;
}

/** Runs a started action, records its outcome, and runs the thread's next turn if no other request of the round is open. */
export function runAction(context: BotContext, action: Action, started: StartedAttempt): Promise<void> {
  const { id, trace: parent } = action.request;
  const attributes = { 'countersign.request.id': id };
  return inSpan('run approved action', { parent, attributes }, () => runStarted(context, action, started));
}

async function runStarted(
  context: BotContext,
  action: Action,
  { attempt, sentAt }: StartedAttempt,
): Promise<void> {
  const { store, timing } = context;
  const { request } = action;
  if (!isInTime(sentAt, timing.heartbeatTimeoutMs))
    throw new Error('The start was answered too late to act on it');
  const heartbeat = startHeartbeat(context, request.id, attempt);
  try {
    const outcome = await runTool(context, action, attempt, heartbeat);
    // The outcome is unknown: without a heartbeat the record gives the attempt up and asks people.
    if (outcome === undefined) return;
    const claimedAt = performance.now();
    const finished = await store.finishAndClaim(request.id, outcome, timing.leaseMs);
    heartbeat.stop();
    if (finished.outcome === 'finished' && finished.state === 'failed')
      await giveBackLimits(store, limitedCallOf(action));
    if (finished.outcome === 'finished' && finished.turn !== undefined)
      await runTurn(context, finished.turn, claimedAt, request.trace);
  } finally {
    heartbeat.stop();
  }
}

/**
 * Checks whether an attempt may still take effect. After the heartbeat timeout it may have been given up, and another attempt may be
 * running, so a process that learns of its start too late must not act on it.
 */
export function isInTime(sentAt: number, heartbeatTimeoutMs: number): boolean {
  return performance.now() - sentAt < heartbeatTimeoutMs;
}

async function runTool(
  context: BotContext,
  { request, details, entry: { tool } }: Action,
  attempt: string,
  heartbeat: Heartbeat,
): Promise<Outcome | undefined> {
  let isUnknown = false;
  const resumed: GateResumed = {
    decision: 'approved',
    by: request.by ?? '',
    own: details.policy?.own ?? false,
  };
  const { requesters } = request;
  const { contextAuthors = [] } = details;
  const { newMessages } = await settle({
    messages: messagesOf(details),
    tools: [tool],
    resume: { restart: [restartOf(tool, details.interrupt, { ...resumed })] },
    context: toolContext(context, request.threadId, { requesters, contextAuthors }),
    files: threadFiles(context, request.threadId, details.idempotencyKey),
    onProgress: ({ message, fraction }) =>
      heartbeat.report(fraction === undefined ? message : `${message} (${Math.round(fraction * 100)} %)`),
    onToolError: ({ error }) => {
      isUnknown = isOutcomeUnknown(error);
      context.logger.warn({ requestId: request.id, err: error }, 'approved action failed');
    },
  });
  if (isUnknown) return undefined;
  const [message] = newMessages;
  const part = message?.role === 'tool' ? message.content[0] : undefined;
  if (message === undefined || part === undefined)
    throw new Error(`Request ${request.id} ended without a result`);
  if ('toolResponse' in part)
    return { attempt, state: stateOf(part), message, summary: part.toolResponse.output };
  const { threadId } = request;
  const pause = describePause(context.toolbox, part.interrupt, { threadId, requesters, contextAuthors });
  return { attempt, state: 'paused', message, summary: toJson(pause) };
}

/** Restarts the call; a `generate` inside it that paused continues, and its own calls count as approved with it. */
function restartOf(tool: Tool, interrupt: Interrupt, resumed: JsonObject): RestartReply {
  const reply = buildRestart(tool, interrupt, resumed, {});
  const inner = nestedInterrupts(interrupt);
  if (inner.length === 0) return reply;
  const restart = inner.map(({ id, toolRequest: { name, ref, input } }) => ({
    toolRequest: { name, ref, input: toJson(input) },
    metadata: { interruptId: id, resumed },
  }));
  return { ...reply, metadata: { ...reply.metadata, nested: { restart } } };
}

function stateOf({ status }: ResponsePart): 'succeeded' | 'failed' {
  return status === 'ok' ? 'succeeded' : 'failed';
}
