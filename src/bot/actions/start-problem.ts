import type { RequestRecord } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { askerProblem } from '../intake/may-ask.ts';
import { digestNow } from '../requests/bind-request.ts';
import { CHANGED, NOT_ALLOWED, REQUESTER_INACTIVE } from '../requests/replies-to.ts';
import { detailsOf } from '../requests/request-details.ts';
import { isSlackPerson } from '../slack/directory.ts';
import { parseThreadId } from '../slack/thread.ts';
import { describeChange, placeOf } from './describe-change.ts';
import type { Action } from './run-action.ts';

/** Joins a request with its tool as it is now, after its server was asked again; `undefined` if the tool is gone. */
export async function findAction(
  { toolbox, logger }: BotContext,
  request: RequestRecord,
): Promise<Action | undefined> {
  const details = detailsOf(request);
  const { name } = details.interrupt.toolRequest;
  // A server that cannot be asked is down, and a call of it fails before anything is sent.
  await toolbox
    .refresh(name)
    .catch((err: unknown) => logger.warn({ requestId: request.id, err }, 'tool not refreshed'));
  const entry = toolbox.find(name);
  return entry && { request, details, entry };
}

/**
 * Judges an approved action, or one that continues, by the manifest and the people as they are now, and returns the reason why it may not start. It is ended if
 * it is not allowed any more, and asked anew if a rule, the policy or the tool has changed. Throws if Slack cannot be asked.
 */
export async function problemAtStart(context: BotContext, action: Action): Promise<string | undefined> {
  const problem = await requesterProblem(context, action);
  if (problem !== undefined) return problem;
  if (currentDigest(context, action) === action.request.digest) return undefined;
  return `${CHANGED}\n${describeChange(context, action)}`;
}

/** Checks whether everyone who asked for an action is still active and may use its tool; returns the reason if not. */
export async function requesterProblem(context: BotContext, action: Action): Promise<string | undefined> {
  if (await hasInactiveRequester(context, action.request)) return REQUESTER_INACTIVE;
  return action.entry.allows(placeOf(action)) ? undefined : NOT_ALLOWED;
}

/** Checks in Slack whether a requester is deactivated or may no longer ask; throws if Slack cannot be asked. */
async function hasInactiveRequester(
  { directory, agent }: Pick<BotContext, 'directory' | 'agent'>,
  { requesters, threadId }: RequestRecord,
): Promise<boolean> {
  const { channel } = parseThreadId(threadId);
  const people = requesters.filter(isSlackPerson);
  const problems = await Promise.all(
    people.map((user) => askerProblem(directory, agent().askers, { user, channel })),
  );
  return problems.some((problem) => problem !== undefined);
}

/** Computes the digest of an action by the manifest that is active now. */
export function currentDigest({ toolbox }: BotContext, { request, details, entry }: Action): string {
  const { threadId, requesters, barred } = request;
  const { interrupt, contextAuthors = [], policy, presented } = details;
  return digestNow(toolbox, {
    ...{ entry, interrupt, presented, threadId, requesters, contextAuthors, barred },
    policy: policy?.name,
  });
}
