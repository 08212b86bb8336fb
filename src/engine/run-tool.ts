import { z } from 'zod';
import type { EffectJournal } from '../agent/calls/journal.ts';
import { interruptsInside } from '../agent/calls/nested.ts';
import { answeredPart, settledPart } from '../agent/calls/outcomes.ts';
import { describeError } from '../agent/errors.ts';
import { type JsonObject, type JsonValue, toJson } from '../agent/json.ts';
import { type Interrupt, MESSAGE_VERSION, sealMessage, type ToolPart } from '../agent/messages.ts';
import { buildRestart, checkOutput, type RestartReply } from '../agent/replies.ts';
import { restartAlone } from '../agent/settle.ts';
import type { Tool } from '../agent/tool.ts';
import { HandOverError } from '../agent/util/abort.ts';
import type { Outcome } from '../store/port/values.ts';
import { openWith } from '../tools/gate.ts';
import { resumedWith } from '../tools/pause.ts';
import { decisionOf } from './choices.ts';
import { classifyInterrupt } from './classify-interrupt.ts';
import type { Heartbeat } from './heartbeat.ts';
import { describePause } from './paused.ts';
import type { ExecutorContext } from './ports.ts';
import { callOf, type Details } from './request-details.ts';
import type { ApprovedRun } from './run.ts';

/** Lets the tool of a started Run act; the outcome is unknown if nobody can tell whether it took effect. */
export async function runTool(
  context: ExecutorContext,
  run: ApprovedRun,
  attempt: string,
  heartbeat: Heartbeat,
): Promise<Outcome | { readonly unknown: string }> {
  const { request, details, entry } = run;
  if (entry === undefined) throw new Error(`The tool of request ${request.id} is gone`);
  const { tool } = entry;
  const own = details.policy?.own ?? false;
  const asked = classifyInterrupt(details.interrupt);
  const under = asked.kind === 'approval' ? { policy: asked.policy, rule: asked.rule } : null;
  const by = request.by ?? '';
  const decision = decisionOf(details.interrupt, request);
  if (decision?.reply === 'respond')
    return outcomeOf(context, run, attempt, respondedPart(tool, details, decision.output, by));
  const chosen = decision?.reply === 'restart' ? decision.resumed : undefined;
  const resumed = openWith(details.interrupt, { by, own, under }, chosen);
  // A call to a server that is cut off leaves its outcome unknown, so only code of this process is told to stop.
  const isOwnCode = entry.source === 'module' || entry.source === 'code';
  const stop = isOwnCode ? context.beginAction(request.id) : undefined;
  let unknown: string | undefined;
  const part = await restartAlone({
    ...context.toolSettings(run, details.idempotencyKey),
    ...(stop !== undefined && { signal: stop.signal, journal: startedJournal(tool) }),
    call: callOf(details),
    interrupt: details.interrupt,
    tool,
    reply: restartOf(tool, details.interrupt, resumed, resumedWith({ status: 'APPROVED' }, by, new Date())),
    onProgress: ({ message, fraction }) =>
      heartbeat.report(fraction === undefined ? message : `${message} (${Math.round(fraction * 100)} %)`),
    onToolError: ({ error, isUnknown }) => {
      if (isUnknown) unknown = describeError(error);
      context.logger.warn({ requestId: request.id, err: error }, 'approved action failed');
    },
  }).finally(() => stop?.end());
  if (unknown !== undefined) return { unknown };
  const outcome = outcomeOf(context, run, attempt, part);
  const isHandedOver = stop?.signal.reason instanceof HandOverError;
  // Another process tries an idempotent action again.
  if (isHandedOver && entry.execution.idempotent && 'state' in outcome && outcome.state === 'failed')
    return { unknown: stop.signal.reason.message };
  return outcome;
}

/** The longest time that a timer can have. */
const LONGEST_MS = 2 ** 31 - 1;

/** The journal of a call whose start and end are on record as those of its request. A stop leaves it its time, since it may still end. */
function startedJournal(tool: Tool): EffectJournal {
  return {
    stopGraceMs: (tool.kind === 'tool' ? tool.timeoutMs : undefined) ?? LONGEST_MS,
    recorded: async () => undefined,
    start: async () => true,
    finish: async () => {},
  };
}

/** Makes the output that approvers chose the result of a call whose tool only asks. */
function respondedPart(tool: Tool, details: Details, output: JsonValue, by: string): ToolPart {
  const call = callOf(details);
  return answeredPart(settledPart(call, 'ok', checkOutput(tool, call.toolRequest.ref, output)), by);
}

const Ended = z.object({ message: z.string() }).or(z.object({ reason: z.string() }));

/** Reads how an attempt ended from the result of its call. */
function outcomeOf(
  { toolbox }: Pick<ExecutorContext, 'toolbox'>,
  run: ApprovedRun,
  attempt: string,
  part: ToolPart,
): Outcome | { readonly unknown: string } {
  const message = sealMessage({ v: MESSAGE_VERSION, role: 'tool', content: [part] });
  if ('interrupt' in part)
    return {
      attempt,
      state: 'paused',
      message,
      summary: toJson(describePause(toolbox, part.interrupt, run)),
    };
  const summary = part.toolResponse.output;
  if (part.status === 'ok') return { attempt, state: 'succeeded', message, summary };
  if (run.attempts === 0) return { attempt, state: 'failed', message, summary };
  // That this attempt did nothing says nothing about the one before it.
  const { data } = Ended.safeParse(summary);
  return { unknown: data === undefined ? '' : 'message' in data ? data.message : data.reason };
}

/** Restarts the call; a `generate` inside it that paused continues with the calls that were approved, whose tools are behind no gate. */
function restartOf(tool: Tool, interrupt: Interrupt, resumed: JsonObject, inside: JsonObject): RestartReply {
  const reply = buildRestart(tool, interrupt, resumed, {});
  return { ...reply, metadata: { ...reply.metadata, ...restartInside(interrupt, inside) } };
}

function restartInside(interrupt: Interrupt, resumed: JsonObject): Pick<RestartReply['metadata'], 'nested'> {
  const inner = interruptsInside(interrupt);
  if (inner.length === 0) return {};
  const restart = inner.map((each) => {
    const { name, ref, input } = each.toolRequest;
    const deeper = restartInside(each, resumed);
    // A call that waits only for those inside it is not approved here.
    const metadata = { interruptId: each.id, ...(deeper.nested === undefined ? { resumed } : deeper) };
    return { toolRequest: { name, ref, input: toJson(input) }, metadata };
  });
  return { nested: { restart } };
}
