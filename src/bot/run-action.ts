import { randomUUID } from 'node:crypto';
import { isOutcomeUnknown } from '../agent/errors/outcome-unknown.ts';
import type { JsonValue } from '../agent/json.ts';
import type { ToolPart } from '../agent/messages.ts';
import { buildRestart } from '../agent/replies.ts';
import { settle } from '../agent/settle.ts';
import type { Attempt, RequestRecord, TakenTurn } from '../store/port.ts';
import type { GateResumed } from '../tools/gate/gate.ts';
import { requestDigest } from '../tools/request-digest.ts';
import type { ToolEntry } from '../tools/toolbox.ts';
import type { BotParts } from './bot-parts.ts';
import { isInTime } from './is-in-time.ts';
import { mayDecide } from './people/may-decide.ts';
import { type Details, detailsOf, messagesOf } from './request-details.ts';
import { asJson, snapshotOf } from './requests/policy-snapshot.ts';
import { playTurn } from './take-turn.ts';
import { toolContext } from './tool-context.ts';

/** An approved action with all that it takes to run it. */
export interface Action {
  readonly request: RequestRecord;
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
  if (started.outcome === 'started') await carryOut(parts, action, attempt.attempt, sentAt);
}

/** The people whose approval is on record. */
export function approversOf({ votes }: RequestRecord): string[] {
  return votes.filter(({ decision }) => decision === 'approve').map(({ who }) => who);
}

/** Makes ready what has to be on record before the effect: what would run now, and who of the approvers still counts. */
export async function planAttempt(
  parts: BotParts,
  action: Action,
  approvers: readonly string[],
): Promise<Attempt> {
  return {
    attempt: randomUUID(),
    digest: digestNow(parts, action),
    silenceMs: parts.timing.silenceMs,
    ...(await stillEligible(parts, action.request, approvers)),
  };
}

/** Runs an action that is on record as started, and goes on with its thread where nothing else there waits. */
export async function carryOut(
  parts: BotParts,
  action: Action,
  attempt: string,
  sentAt: number,
): Promise<void> {
  if (!isInTime(sentAt, parts.timing.silenceMs))
    throw new Error('The start was answered too late to act on it');
  const turn = await runAttempt(parts, action, attempt);
  if (turn !== undefined) await playTurn(parts, turn);
}

async function runAttempt(
  parts: BotParts,
  { request, details, entry: { tool } }: Action,
  attempt: string,
): Promise<TakenTurn | undefined> {
  const { store, logger, timing } = parts;
  let progress = '';
  let inDoubt = false;
  const beating = setInterval(() => {
    store
      .beat(request.id, attempt, timing.silenceMs, progress)
      .catch((err) => logger.warn({ requestId: request.id, err }, 'no beat'));
    progress = '';
  }, timing.beatMs);
  try {
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
      onProgress: ({ message, fraction }) => {
        progress = fraction === undefined ? message : `${message} (${Math.round(fraction * 100)} %)`;
      },
      onToolError: ({ error }) => {
        inDoubt = isOutcomeUnknown(error);
        logger.warn({ requestId: request.id, err: error }, 'an approved action failed');
      },
    });
    // The call was made and nobody knows what became of it: the attempt falls silent, and the record asks people.
    if (inDoubt) return undefined;
    const [message] = newMessages;
    const part = message?.role === 'tool' ? message.content[0] : undefined;
    if (message === undefined || part === undefined)
      throw new Error(`Request ${request.id} ended without a result`);
    const outcome = { attempt, state: stateOf(part), message, summary: summaryOf(part) };
    const finished = await store.finishAndTake(request.id, outcome, timing.leaseMs);
    return finished.outcome === 'finished' ? finished.turn : undefined;
  } finally {
    clearInterval(beating);
  }
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
