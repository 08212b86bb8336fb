import { canonicalJson, type JsonValue, toJson } from '../../../agent/json.ts';
import { effectiveInput } from '../../../agent/schema/compile-schema.ts';
import { askerProblem } from '../../../engine/asks/may-ask.ts';
import { parseCallerThread } from '../../../engine/caller-threads.ts';
import { classifyInterrupt } from '../../../engine/classify-interrupt.ts';
import { innerCalls } from '../../../engine/inner-calls.ts';
import { writeReason } from '../../../engine/reasons.ts';
import { detailsOf, toolOf } from '../../../engine/request-details.ts';
import { firstOfFacts } from '../../../policy/first-times.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { Verdict } from '../../../store/port/values.ts';
import { CALLER_ACTION_TOOL } from '../../../tools/toolbox/caller-action.ts';
import { waitingAnswerOf } from '../../../tools/waiting-answer.ts';
import type { BotContext } from '../../context.ts';
import { parseThreadId } from '../../slack/thread.ts';
import { stateWordOf } from '../../views/cards/card-details.ts';
import { modalTexts } from '../../views/texts/modals.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { replyTexts } from '../../views/texts/replies.ts';
import { authorize, authorizeAnswer, authorizeVote } from './authorize.ts';
import type { Click, Notice } from './click.ts';
import { ineligibleText, onlyApprovers, refusalText } from './refusal-text.ts';

type Context = Pick<BotContext, 'store' | 'directory'>;

/** Answers a question, a form or a callback. */
export async function answer(
  context: Context & Pick<BotContext, 'agent'>,
  request: RequestRecord,
  click: Click,
  value: JsonValue,
): Promise<Notice> {
  const { actor, problem } = await authorizeAnswer(context, click, request);
  const result = await context.store.answer(request.id, actor, value);
  if (result.outcome === 'answered') return undefined;
  if (result.outcome === 'own-request') return noticeTexts.ownAnswer;
  return refusalText(result, problem, noticeTexts.notAnswerer);
}

/** Withdraws a request; the record allows it only to a requester. */
export async function withdraw(
  { store }: Pick<Context, 'store'>,
  requestId: string,
  { who, id }: Click,
): Promise<Notice> {
  const result = await store.end(requestId, { state: 'withdrawn', who, evidence: { click: id } });
  return result.outcome === 'ended' ? undefined : refusalText(result);
}

/** Records the outcome of an action whose outcome is unknown, as it was after `tries` attempts. */
export async function resolve(
  context: Context,
  request: RequestRecord,
  click: Click,
  { verdict, reason, tries }: { readonly verdict: Verdict; readonly reason: string; readonly tries: number },
): Promise<Notice> {
  // Running again is approving again; a call that needed no approval is for those who confirm its outcome.
  const isAgain = verdict === 'run-again';
  const wasApproved = classifyInterrupt(detailsOf(request).interrupt).kind !== 'unknown';
  const { resolvers, excluded } = request.policy;
  const { actor, problem } =
    isAgain && wasApproved
      ? await authorizeVote(context, click, request)
      : await authorize(context, click, resolvers, isAgain ? excluded : []);
  const result = await context.store.resolve(request.id, actor, verdict, reason, tries);
  if (result.outcome === 'resolved') return undefined;
  const refused = isAgain ? noticeTexts.mayNotRunAgain : noticeTexts.notResolver;
  return refusalText(result, problem, refused);
}

/** Edits the input: the request is superseded, and the same people are asked for the new input. An edit changes something. */
export async function edit(
  context: Context & Pick<BotContext, 'toolbox'>,
  request: RequestRecord,
  click: Click,
  input: JsonValue,
): Promise<Notice> {
  const { principals, policy } = request;
  const { problem } = await authorize(context, click, principals, policy.excluded);
  if (problem !== undefined && !request.requesters.includes(click.who))
    return ineligibleText(problem, onlyApprovers(request));
  // A call that waits for another inside it has started.
  if (innerCalls(detailsOf(request).interrupt) !== undefined) return noticeTexts.startedBefore;
  // A call whose server asks was started with its arguments.
  if (waitingAnswerOf(detailsOf(request).interrupt) !== undefined) return modalTexts.notEditable;
  // A caller runs exactly what it has shown.
  if (toolOf(request) === CALLER_ACTION_TOOL) return modalTexts.notEditable;
  if (isSameCall(context.toolbox, request, input)) return noticeTexts.unchanged;
  const denied = await denialOf(context, request, click.who, input);
  if (denied !== undefined) return denied;
  const reason = writeReason({ code: 'edited', input, by: click.who });
  const result = await context.store.end(request.id, { state: 'superseded', reason });
  if (result.outcome === 'unknown-outcome') return noticeTexts.startedBefore;
  return result.outcome === 'ended' ? undefined : refusalText(result);
}

/** Judges the edited call as its gate will, with the editor as a requester; returns a sentence if it would be denied. */
async function denialOf(
  { toolbox, store }: Context & Pick<BotContext, 'toolbox'>,
  request: RequestRecord,
  editor: string,
  edited: JsonValue,
): Promise<Notice> {
  const { interrupt, facets } = detailsOf(request);
  const { name } = interrupt.toolRequest;
  const entry = toolbox.find(name);
  if (entry === undefined) return noticeTexts.toolGone;
  const there = {
    requesters: [...new Set([...request.requesters, editor])],
    contextAuthors: (facets.context ?? []).filter((person) => person !== editor),
    channel: parseThreadId(request.threadId).channel,
  };
  await toolbox.refreshPeople([...there.requesters, ...there.contextAuthors]);
  if (!entry.allows(there)) return noticeTexts.notAllowedHere;
  const input = effectiveInput(entry.tool.inputSchema, edited);
  const place = { ...there, firstOf: firstOfFacts(await entry.readFirst?.(input, there)) };
  const { verdict } = await entry.explain({ input, ...place }, (limits) => store.readTotals(limits));
  return verdict.outcome === 'deny' ? noticeTexts.editDenied(verdict.reason) : undefined;
}

/** Tells whether an input is the one that would run now, as the tool reads both. */
function isSameCall(toolbox: BotContext['toolbox'], request: RequestRecord, input: JsonValue): boolean {
  const { name, input: asked } = detailsOf(request).interrupt.toolRequest;
  const schema = toolbox.find(name)?.tool.inputSchema;
  const [before, after] = [toJson(asked), input].map((value) => {
    const read = schema?.parse(value);
    return canonicalJson(toJson(read?.ok === true ? read.value : value));
  });
  return before === after;
}

/** Asks for an expired action once more: the agent is told to propose exactly the same call, which people decide as usual. */
export async function askAgain(
  { store, directory, agent }: Context & Pick<BotContext, 'agent'>,
  request: RequestRecord,
  { who }: Click,
): Promise<Notice> {
  if (request.state !== 'expired') return noticeTexts.nothingToRepeat(stateWordOf(request));
  if (!request.requesters.includes(who)) return noticeTexts.onlyRequesterRepeats;
  const caller = parseCallerThread(request.threadId)?.caller;
  if (caller !== undefined) return noticeTexts.onlyCallerRepeats(caller);
  const { channel } = parseThreadId(request.threadId);
  const cannotAsk = await askerProblem(directory, agent().askers, { user: who, channel });
  if (cannotAsk !== undefined) return replyTexts.mayNotAsk[cannotAsk];
  const { name, input } = detailsOf(request).interrupt.toolRequest;
  const text = `The request for ${name} expired. Please ask for it again with exactly these arguments: ${JSON.stringify(input)}`;
  // The request's own id makes a second click the same item.
  const item = {
    id: `again ${request.id}`,
    body: { user: who, text, role: 'requester', requesters: [...request.requesters] },
  };
  const { outcome } = await store.enqueue(request.threadId, item);
  return outcome === 'duplicate' ? noticeTexts.alreadyRepeated : undefined;
}

/** Shows the callback address to requesters only, because anybody who has it can answer. */
export async function showAddress(
  { callbacks }: Pick<BotContext, 'callbacks'>,
  request: RequestRecord,
  { who }: Click,
): Promise<Notice> {
  if (!request.requesters.includes(who)) return noticeTexts.onlyRequesterAddress;
  if (request.state !== 'pending') return noticeTexts.nothingAwaited(stateWordOf(request));
  const { idempotencyKey } = detailsOf(request);
  const target = { threadId: request.threadId, idempotencyKey, requestId: request.id };
  const address = callbacks.make(target, request.expiresAt);
  return noticeTexts.address(address);
}
