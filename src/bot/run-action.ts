import { randomUUID } from 'node:crypto';
import { isOutcomeUnknown } from '../agent/errors/outcome-unknown.ts';
import type { JsonValue } from '../agent/json.ts';
import type { ToolPart } from '../agent/messages.ts';
import { buildRestart } from '../agent/replies.ts';
import { settle } from '../agent/settle.ts';
import type { RequestRecord } from '../store/port.ts';
import type { GateResumed } from '../tools/gate/gate.ts';
import { requestDigest } from '../tools/request-digest.ts';
import type { ToolEntry } from '../tools/toolbox.ts';
import type { BotParts } from './bot-parts.ts';
import { mayDecide } from './people/may-decide.ts';
import { detailsOf, messagesOf } from './request-details.ts';
import { asJson, snapshotOf } from './requests/policy-snapshot.ts';
import { toolContext } from './tool-context.ts';

/** Carries out one approved action: it is on record as started before it runs, and its outcome as soon as it has. */
export async function runAction(parts: BotParts, requestId: string): Promise<void> {
  const { store, toolbox, timing } = parts;
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found' || loaded.request.state !== 'approved') return;
  const { request } = loaded;
  const { name } = detailsOf(request).interrupt.toolRequest;
  const entry = toolbox.find(name);
  if (entry === undefined) {
    await store.supersede(requestId, `there is no tool "${name}" any more`);
    return;
  }
  const attempt = randomUUID();
  const started = await store.start(requestId, {
    attempt,
    digest: digestNow(parts, request, entry),
    silenceMs: timing.silenceMs,
    ...(await stillEligible(parts, request)),
  });
  if (started.outcome === 'started') await carryOut(parts, request, entry, attempt);
}

async function carryOut(
  parts: BotParts,
  request: RequestRecord,
  { tool }: ToolEntry,
  attempt: string,
): Promise<void> {
  const { store, logger, timing } = parts;
  const details = detailsOf(request);
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
    if (inDoubt) return;
    const [message] = newMessages;
    const part = message?.role === 'tool' ? message.content[0] : undefined;
    if (message === undefined || part === undefined)
      throw new Error(`Request ${request.id} ended without a result`);
    await store.finish(request.id, { attempt, state: stateOf(part), message, summary: summaryOf(part) });
  } finally {
    clearInterval(beating);
  }
}

/** The digest of what would run now, by the manifest that holds now. */
function digestNow({ toolbox }: BotParts, request: RequestRecord, entry: ToolEntry): string {
  const { interrupt, policy: shown } = detailsOf(request);
  const policy = toolbox.policy(shown?.name ?? '');
  return requestDigest({
    entry,
    // A policy that is gone has changed as well.
    policy: policy === undefined ? {} : asJson(snapshotOf(policy)),
    input: interrupt.toolRequest.input,
    requester: request.requester,
    threadId: request.threadId,
  });
}

async function stillEligible({ directory }: BotParts, { votes, principals }: RequestRecord) {
  const approvals = votes.filter(({ decision }) => decision === 'approve').map(({ who }) => who);
  // Nothing of what the clicks found counts here: this is the last look before the effect.
  const now = directory.fresh();
  const checked = await Promise.all(
    approvals.map(async (who) => ({ who, ...(await mayDecide(now, who, principals)) })),
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
