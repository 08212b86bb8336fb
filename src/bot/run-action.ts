import { randomUUID } from 'node:crypto';
import { type JsonObject, toJson } from '../agent/json.ts';
import type { ToolPart } from '../agent/messages.ts';
import { buildRestart } from '../agent/replies.ts';
import { settle } from '../agent/settle.ts';
import type { RequestRecord } from '../store/port.ts';
import { requestDigest } from '../tools/request-digest.ts';
import type { BotParts } from './bot-parts.ts';
import { detailsOf, messagesOf } from './request-details.ts';

const SILENCE_MS = 30_000;

/** Carries out one approved action: it is on record as started before it runs, and its outcome as soon as it has. */
export async function runAction(parts: BotParts, requestId: string): Promise<void> {
  const { store, tools, logger } = parts;
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found' || loaded.request.state !== 'approved') return;
  const { request } = loaded;
  const details = detailsOf(request);
  const { interrupt } = details;
  const tool = tools.find(({ name }) => name === interrupt.toolRequest.name);
  if (tool === undefined) {
    await store.supersede(requestId, `there is no tool "${interrupt.toolRequest.name}" any more`);
    return;
  }

  const attempt = randomUUID();
  const started = await store.start(requestId, {
    attempt,
    digest: requestDigest({
      tool,
      policy: toJson(parts.policy) as JsonObject,
      input: interrupt.toolRequest.input,
      requester: request.requester,
      threadId: request.threadId,
    }),
    silenceMs: SILENCE_MS,
    stillEligible: stillEligible(request),
    evidence: { rule: 'named in the policy' },
  });
  if (started.outcome !== 'started') return;

  const beating = setInterval(
    () => void store.beat(requestId, attempt, SILENCE_MS).catch(() => {}),
    SILENCE_MS / 3,
  );
  try {
    const restart = [buildRestart(tool, interrupt, { decision: 'approved', by: request.by ?? '' }, {})];
    const { newMessages } = await settle({
      messages: messagesOf(details),
      tools,
      resume: { restart },
      onToolError: ({ name, error }) =>
        logger.warn({ requestId, name, err: error }, 'an approved action failed'),
    });
    const [message] = newMessages;
    const part = message?.role === 'tool' ? message.content[0] : undefined;
    if (message === undefined || part === undefined)
      throw new Error(`Request ${requestId} was settled without a result`);
    await store.finish(requestId, { attempt, state: stateOf(part), message, summary: summaryOf(part) });
  } finally {
    clearInterval(beating);
  }
}

function stillEligible({ votes, principals }: RequestRecord): string[] {
  return votes
    .filter(({ who, decision }) => decision === 'approve' && principals.includes(who))
    .map(({ who }) => who);
}

function stateOf(part: ToolPart): 'succeeded' | 'failed' {
  return 'status' in part && part.status !== 'ok' ? 'failed' : 'succeeded';
}

function summaryOf(part: ToolPart) {
  return 'toolResponse' in part ? part.toolResponse.output : { status: 'paused again' };
}
