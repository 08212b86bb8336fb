import { ReplyError } from '../../agent/errors.ts';
import { tryParseJson } from '../../agent/json.ts';
import type { Interrupt, Message } from '../../agent/messages.ts';
import {
  buildClose,
  buildRespond,
  buildRestart,
  type RestartReply,
  type Resume,
} from '../../agent/replies.ts';
import type { Tool } from '../../agent/tool.ts';
import { Transcript } from '../../agent/transcript.ts';
import { interruptOf } from '../../store/port/keys.ts';
import { resolutionOf } from '../../store/port/request-record.ts';
import type { Settlement } from '../../store/port/values.ts';
import { continueWith, editorOf, type GateResumed, resumeWith } from '../../tools/gate.ts';
import { consentOf } from '../../tools/mcp/auth/ask-for-consent.ts';
import {
  type Answer,
  answerOf,
  type Elicitation,
  elicitationOf,
  type PauseEnd,
  parseAnswerValue,
  withoutAnswers,
} from '../../tools/mcp/server-pause.ts';
import { askOf, meaningOf } from '../../tools/pause.ts';
import { callerIn } from '../../tools/toolbox/caller-action.ts';
import { classifyInterrupt } from '../classify-interrupt.ts';
import { type PlanOutcome, planOutcome } from '../plans.ts';
import type { Directory, EngineContext } from '../ports.ts';
import { afterEnd, type Reason, readReason } from '../reasons.ts';

/** The people and the words that replies need from outside. */
type Outside = Pick<EngineContext, 'describeRefusal'> & { readonly directory: Pick<Directory, 'isPerson'> };

/** Turns ended requests into replies. An action that ran has its result in the messages already. */
export function repliesTo(
  outside: Outside,
  settled: readonly Settlement[],
  messages: readonly Message[],
  tools: readonly Tool[],
): Resume {
  const { interrupts, round } = Transcript.latestRound(messages, { mayBeOpen: true });
  const waiting = new Map(interrupts.map((interrupt) => [interrupt.id, interrupt]));
  const replies = settled.flatMap((settlement): Resume[] => {
    const interrupt = waiting.get(interruptOf(settlement.requestId));
    if (interrupt === undefined) return [];
    const tool = tools.find(({ name }) => name === interrupt.toolRequest.name);
    if (tool !== undefined && classifyInterrupt(interrupt).kind === 'plan') {
      const { ref, input } = interrupt.toolRequest;
      const reply = replyToPlan(settlement, interrupt, tool, {
        outcome: planOutcome(ref, input, round, settled),
        isLeft: settled.some((each) => each !== settlement && isLeftOver(each)),
      });
      if (reply !== undefined) return [reply];
    }
    return [replyTo(outside, settlement, interrupt, tool)];
  });
  return {
    respond: replies.flatMap(({ respond = [] }) => respond),
    restart: replies.flatMap(({ restart = [] }) => restart),
    close: replies.flatMap(({ close = [] }) => close),
  };
}

/** Tells whether the call of a request that did not run is left to be judged again. */
function isLeftOver({ state, payload }: Settlement): boolean {
  return state === 'superseded' && afterEnd(readReason(payload)) !== 'ends';
}

/** Tells the model how each step of a plan ended; what is left of one that stopped is asked again, together. Any other end is the usual one. */
function replyToPlan(
  { state }: Pick<Settlement, 'state'>,
  interrupt: Interrupt,
  tool: Tool,
  { outcome, isLeft }: { readonly outcome: PlanOutcome; readonly isLeft: boolean },
): Resume | undefined {
  if (state === 'superseded' && isLeft) return { restart: [buildRestart(tool, interrupt, {}, {})] };
  if (state !== 'succeeded' && state !== 'superseded') return undefined;
  return { respond: [buildRespond(tool, interrupt, outcome)] };
}

function replyTo(
  outside: Outside,
  { requestId, state, by, payload }: Settlement,
  interrupt: Interrupt,
  tool: Tool | undefined,
): Resume {
  const close = (status: string, what: string, why = payload): Resume => ({
    close: [buildClose(interrupt, status, why === '' ? what : `${what}: ${why}`)],
  });
  const asked = elicitationOf(interrupt);
  const unsent = answerOf(interrupt);
  const reply =
    (asked && tool && replyToServer({ requestId, state, by, payload }, interrupt, tool, asked)) ??
    (unsent && tool && replyToTask({ state }, interrupt, tool, unsent));
  if (reply !== undefined) return reply;
  switch (state) {
    case 'answered':
      // An account was connected: the call is made again, and its gate decides as for a new one.
      if (consentOf(interrupt) !== undefined && tool?.kind === 'tool')
        return { restart: [buildRestart(tool, interrupt, {}, {})] };
      return tool === undefined
        ? close('failed', 'The tool is gone', '')
        : (replyWith(outside, tool, interrupt, payload, by) ??
            close('failed', 'The answer does not fit what was asked', ''));
    case 'superseded':
      return replyToSuperseded(outside, readReason(payload), interrupt, tool);
    case 'rejected':
      return close('denied', `Rejected by ${by}`);
    case 'resolved': {
      const { verdict, reason } = resolutionOf(payload);
      return close(verdict, 'The outcome was unknown, and a person found out', reason);
    }
    default:
      return close(state, `The request is ${state}`);
  }
}

/**
 * Builds the reply that an answer means: the output of the call, or what its tool goes on with; a no ends it. `undefined` if the answer no
 * longer fits the tool, which must not block the thread.
 */
function replyWith(
  { directory }: Outside,
  tool: Tool,
  interrupt: Interrupt,
  payload: string,
  by: string,
): Resume | undefined {
  const ask = askOf(interrupt);
  const answer = tryParseJson(payload);
  if (ask === undefined || answer === undefined) return undefined;
  const meaning = meaningOf(ask, answer);
  // An external system that reports back is nobody whose words count.
  const answeredBy = directory.isPerson(by) && { answeredBy: by };
  try {
    if (meaning.reply === 'deny') return { close: [buildClose(interrupt, 'denied', `Rejected by ${by}`)] };
    if (meaning.reply === 'respond') {
      const reply = buildRespond(tool, interrupt, meaning.output);
      return { respond: [{ ...reply, metadata: { ...reply.metadata, ...answeredBy } }] };
    }
    const resumed = resumeWith(interrupt, { ask, answer, resumed: meaning.resumed }, by);
    const reply = buildRestart(tool, interrupt, resumed, {});
    return { restart: [{ ...reply, metadata: { ...reply.metadata, ...answeredBy } }] };
  } catch (error) {
    if (error instanceof ReplyError) return undefined;
    throw error;
  }
}

/** Ends a call whose request no longer holds, or restarts it, so that its gate asks again; after an edit for the new input. */
export function replyToSuperseded(
  { describeRefusal }: Pick<Outside, 'describeRefusal'>,
  reason: Reason | undefined,
  interrupt: Interrupt,
  tool: Tool | undefined,
): Resume {
  const close = (status: string, why: string): Resume => ({
    close: [buildClose(interrupt, status, why)],
  });
  const caller = callerIn(interrupt);
  if (caller !== undefined && reason?.code === 'stale-approval')
    return close('expired', `${caller} did not start it in time, so it did not run.`);
  const why = reason && describeRefusal(reason);
  if (why !== undefined && afterEnd(reason) === 'ends') return close('superseded', why);
  if (tool?.kind !== 'tool')
    return close('superseded', `The request no longer holds${why === undefined ? '' : `: ${why}`}`);
  try {
    return { restart: [askAnew(tool, interrupt, reason)] };
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    return close('failed', 'The edited arguments do not fit the tool any more');
  }
}

function askAnew(tool: Tool, interrupt: Interrupt, reason: Reason | undefined): RestartReply {
  // An edited input needs approval however often it is asked anew.
  const by = reason?.code === 'edited' ? reason.by : editorOf(interrupt);
  const previousPreview = reason?.code === 'preview-changed' ? reason : undefined;
  if (by === undefined && previousPreview === undefined) return buildRestart(tool, interrupt, {}, {});
  const pause = classifyInterrupt(interrupt);
  const policy = pause.kind === 'approval' ? pause.policy : 'default';
  const resumed: GateResumed =
    previousPreview === undefined
      ? { decision: 'edited', by: by ?? '', policy }
      : {
          decision: 'changed',
          by: by ?? null,
          policy,
          previousPreview: { before: previousPreview.before, after: previousPreview.after },
        };
  const replacement = reason?.code === 'edited' ? { replaceInput: reason.input } : {};
  const reply = buildRestart(tool, interrupt, { ...resumed }, replacement);
  // The words of the editor are in the result, also if a rule denies the new input.
  return { ...reply, metadata: { ...reply.metadata, ...(by !== undefined && { answeredBy: by }) } };
}

/**
 * Turns the end of a server's question into the reply to the call that waits for it. The call continues with the response, on the
 * approval that it was started with. A call of an older server that nobody answered ends here, since its server was told so at once.
 */
function replyToServer(
  { state, by, payload }: Settlement,
  interrupt: Interrupt,
  tool: Tool,
  pause: Elicitation,
): Resume | undefined {
  const end = endOf(state, payload);
  if (end === undefined) return undefined;
  const { call } = pause;
  if (call.protocol === 'older' && (end.action === 'withdrawn' || end.action === 'expired')) {
    const said = call.ending === '' ? '' : ` The server said: ${call.ending}`;
    const reason = `${ENDINGS[end.action]} The server was told that it is cancelled.${said}`;
    return { close: [buildClose(interrupt, end.action, reason)] };
  }
  const answeredBy = state === 'answered' ? [by] : [];
  return {
    restart: [buildRestart(tool, interrupt, continueWith(interrupt, { pause, end }, answeredBy), {})],
  };
}

/** Lets a task go on whose answer was not approved: it hears that there is none. Any other call has ended. */
function replyToTask(
  { state }: Pick<Settlement, 'state'>,
  interrupt: Interrupt,
  tool: Tool,
  answer: Answer,
): Resume | undefined {
  const end = state === 'superseded' ? 'withdrawn' : state;
  if (end !== 'rejected' && end !== 'withdrawn' && end !== 'expired') return undefined;
  const resumed = withoutAnswers(answer, end);
  return resumed && { restart: [buildRestart(tool, interrupt, continueWith(interrupt, resumed), {})] };
}

const ENDINGS = {
  withdrawn: "The server's question was withdrawn.",
  expired: "Nobody answered the server's question in time.",
};

function endOf(state: Settlement['state'], payload: string): PauseEnd | undefined {
  if (state === 'answered') return parseAnswerValue(payload);
  return state === 'withdrawn' || state === 'expired' ? { action: state } : undefined;
}
