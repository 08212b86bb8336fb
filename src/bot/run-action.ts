import { randomUUID } from 'node:crypto';
import { isOutcomeUnknown } from '../agent/errors/outcome-unknown.ts';
import type { JsonValue } from '../agent/json.ts';
import type { Message, ToolPart } from '../agent/messages.ts';
import { buildRestart } from '../agent/replies.ts';
import { settle } from '../agent/settle.ts';
import type { Attempt, Outcome, RequestRecord, SignedRequest } from '../store/port.ts';
import type { GateResumed } from '../tools/gate/gate.ts';
import { requestDigest } from '../tools/toolbox/request-digest.ts';
import type { ToolEntry } from '../tools/toolbox/toolbox.ts';
import type { BotParts } from './bot-parts.ts';
import { expectTurn } from './expect-turn.ts';
import { isInTime } from './is-in-time.ts';
import { type Beating, keepBeating } from './keep-beating.ts';
import { mayDecide } from './people/may-decide.ts';
import { type Details, detailsOf, messagesOf } from './request-details.ts';
import { asJson, snapshotOf } from './requests/policy-snapshot.ts';
import { playAhead, playTurn } from './take-turn.ts';
import { toolContext } from './tool-context.ts';

/** An approved action with all that it takes to run it. */
export interface Action {
  readonly request: SignedRequest;
  readonly details: Details;
  readonly entry: ToolEntry;
}

/** Carries out one approved action: it is on record as started before it runs, and its outcome as soon as it has. */
export async function runAction(parts: BotParts, requestId: string): Promise<void> {
  const { store, toolbox } = parts;
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found' || loaded.request.state !== 'approved') return;
  const { request } = loaded;
  const details = detailsOf(request);
  const { name } = details.interrupt.toolRequest;
  const entry = toolbox.find(name);
  if (entry === undefined) {
    await store.supersede(requestId, `there is no tool "${name}" any more`);
    return;
  }
  const action = { request, details, entry };
  const attempt = await planAttempt(parts, action, approversOf(request));
  const sentAt = performance.now();
  const started = await store.start(requestId, attempt);
  if (started.outcome === 'started') await carryOut(parts, action, { attempt: attempt.attempt, sentAt });
}

/** The people whose approval is on record. */
export function approversOf({ votes }: RequestRecord): string[] {
  return votes.filter(({ decision }) => decision === 'approve').map(({ who }) => who);
}

/** Makes ready what has to be on record before the effect: what would run now, and who of the approvers still counts. */
export async function planAttempt(
  parts: BotParts,
  action: Action & { readonly request: RequestRecord },
  approvers: readonly string[],
): Promise<Attempt> {
  return {
    attempt: randomUUID(),
    digest: digestNow(parts, action),
    silenceMs: parts.timing.silenceMs,
    ...(await stillEligible(parts, action.request, approvers)),
  };
}

/** What is known of an attempt that is on record as started. */
export interface Started {
  readonly attempt: string;
  /** When its start was sent, by this process's own clock. */
  readonly sentAt: number;
  /** The thread's messages as they were then, where its next turn is about nothing but this action. */
  readonly history?: (() => readonly Message[] | undefined) | undefined;
}

/** Runs an action that is on record as started, and goes on with its thread where nothing else there waits. */
export async function carryOut(parts: BotParts, action: Action, started: Started): Promise<void> {
  const { store, timing } = parts;
  const { request } = action;
  if (!isInTime(started.sentAt, timing.silenceMs))
    throw new Error('The start was answered too late to act on it');
  const beating = keepBeating(parts, request.id, started.attempt);
  try {
    const outcome = await runAttempt(parts, action, started.attempt, beating);
    // The call was made and nobody knows what became of it: the attempt falls silent, and the record asks people.
    if (outcome === undefined) return;
    const expected = expectTurn(request, outcome, started, timing.silenceMs);
    const finishing = store.finishAndTake(request.id, outcome, timing.leaseMs, expected?.messages);
    const coming = finishing.then((finished) => {
      beating.stop();
      return finished.outcome === 'finished' ? finished.turn : undefined;
    });
    const ahead = expected?.turn();
    if (ahead !== undefined) return await playAhead(parts, ahead, coming);
    const turn = await coming;
    if (turn !== undefined) await playTurn(parts, turn);
  } finally {
    beating.stop();
  }
}

async function runAttempt(
  parts: BotParts,
  { request, details, entry: { tool } }: Action,
  attempt: string,
  beating: Beating,
): Promise<Outcome | undefined> {
  let inDoubt = false;
  const resumed: GateResumed = {
    decision: 'approved',
    by: request.by ?? '',
    own: details.policy?.own ?? false,
  };
  const { newMessages } = await settle({
    messages: messagesOf(details),
    tools: [tool],
    resume: { restart: [buildRestart(tool, details.interrupt, { ...resumed }, {})] },
    context: toolContext(parts, request.threadId, request.requester),
    onProgress: ({ message, fraction }) =>
      beating.tell(fraction === undefined ? message : `${message} (${Math.round(fraction * 100)} %)`),
    onToolError: ({ error }) => {
      inDoubt = isOutcomeUnknown(error);
      parts.logger.warn({ requestId: request.id, err: error }, 'an approved action failed');
    },
  });
  if (inDoubt) return undefined;
  const [message] = newMessages;
  const part = message?.role === 'tool' ? message.content[0] : undefined;
  if (message === undefined || part === undefined)
    throw new Error(`Request ${request.id} ended without a result`);
  return { attempt, state: stateOf(part), message, summary: summaryOf(part) };
}

/** The digest of what would run now, by the manifest that holds now. */
export function digestNow({ toolbox }: BotParts, { request, details, entry }: Action): string {
  const policy = toolbox.policy(details.policy?.name ?? '');
  return requestDigest({
    entry,
    // A policy that is gone has changed as well.
    policy: policy === undefined ? {} : asJson(snapshotOf(policy)),
    input: details.interrupt.toolRequest.input,
    requester: request.requester,
    threadId: request.threadId,
  });
}

async function stillEligible(
  { directory }: BotParts,
  { principals }: RequestRecord,
  approvers: readonly string[],
): Promise<Pick<Attempt, 'stillEligible' | 'evidence'>> {
  // Nothing of what the clicks found counts here: this is the last look before the effect.
  const now = directory.fresh();
  const checked = await Promise.all(
    approvers.map(async (who) => ({ who, ...(await mayDecide(now, who, principals)) })),
  );
  // Where Slack cannot be asked nothing is decided: the action stays approved, and is tried again.
  if (checked.some((person) => !person.eligible && !person.checked))
    throw new Error('The signers could not be checked');
  return {
    stillEligible: checked.filter(({ eligible }) => eligible).map(({ who }) => who),
    evidence: Object.fromEntries(checked.map(({ who, evidence }) => [who, evidence])),
  };
}

function stateOf(part: ToolPart): 'succeeded' | 'failed' {
  return 'status' in part && part.status !== 'ok' ? 'failed' : 'succeeded';
}

function summaryOf(part: ToolPart): JsonValue {
  return 'toolResponse' in part ? part.toolResponse.output : { status: 'paused again' };
}
