import { toJson } from '../../../agent/json.ts';
import type { CallPart, Interrupt } from '../../../agent/messages.ts';
import { digestNow } from '../../../engine/bind-request.ts';
import type { AnswerKind } from '../../../engine/classify-interrupt.ts';
import { type RequestOrigin, toDetails } from '../../../engine/request-details.ts';
import { NOBODY } from '../../../engine/task-people.ts';
import { type NewRequest, type PolicySnapshot, requestIdOf } from '../../../store/port/store.ts';
import { consentOf } from '../../../tools/mcp/auth/ask-for-consent.ts';
import { askOf } from '../../../tools/pause.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import type { BotContext } from '../../context.ts';
import { isSlackPerson } from '../../slack/directory.ts';
import { placeIn } from '../../slack/thread.ts';
import { connectionTexts } from '../../views/texts/connections.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { THREAD_VIEW } from '../../views/view-ids.ts';
import { answerSnapshot, snapshotOf } from '../policy-snapshot.ts';
import { eligibleApprovers, otherViews } from './people-to-ask.ts';
import { presentCall } from './present-call.ts';

const DAY_MS = 86_400_000;
const QUESTION_MS = DAY_MS;
const CALLBACK_MS = 7 * DAY_MS;
const NO_EXECUTION = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** A call that waits for an answer. */
interface AskingCall {
  readonly call: CallPart;
  readonly interrupt: Interrupt;
  readonly entry: ToolEntry;
  readonly kind: AnswerKind;
}

/** Plans the request of a question, a form, a callback or a person's consent; returns a sentence if nobody could ever answer it. */
export async function planAnswer(
  { toolbox, directory }: Pick<BotContext, 'toolbox' | 'directory'>,
  { threadId, requesters, contextAuthors, files }: RequestOrigin,
  { call, interrupt, entry, kind }: AskingCall,
): Promise<NewRequest | string> {
  const { name: tool, input } = interrupt.toolRequest;
  const presented = await presentCall(directory, entry, input);
  const consent = consentOf(interrupt);
  const ask = askOf(interrupt);
  const asked =
    consent === undefined ? ask?.message : connectionTexts.cardPurpose(consent.server, consent.host);
  const purpose = asked === '' ? undefined : asked;
  const policyName = typeof ask?.by === 'object' ? ask.by.policy : undefined;
  const people = { requesters, contextAuthors };
  const answerers =
    policyName === undefined
      ? { policy: freeTerms(kind, consent?.person, ask?.by === 'anyone', requesters), barred: [], views: [] }
      : await policyTerms({ toolbox, directory }, policyName, people);
  if (typeof answerers === 'string') return answerers;
  const { policy, barred, views } = answerers;
  const bound = { entry, interrupt, presented, threadId, requesters, contextAuthors };
  const [requester = NOBODY] = requesters;
  return {
    id: requestIdOf(threadId, interrupt.id),
    kind,
    requester,
    requesters,
    barred,
    labels: { tool, policy: policyName ?? '' },
    details: toDetails(call, interrupt, {
      presented,
      description: entry.tool.description,
      ...(purpose !== undefined && { purpose }),
      ...(policyName !== undefined && { policy: { name: policyName, own: true } }),
      ...(contextAuthors.length > 0 && { contextAuthors: [...contextAuthors] }),
    }),
    audit: {
      tool,
      title: presented.title,
      ...(purpose !== undefined && { question: purpose }),
      arguments: toJson(input),
      ...(policyName !== undefined && { policy_name: policyName }),
      ...(files.length > 0 && { files: toJson(files) }),
    },
    policy,
    digest: digestNow(toolbox, { ...bound, policy: policyName, barred }),
    execution: NO_EXECUTION,
    views: [{ id: THREAD_VIEW, place: { ...placeIn(threadId) } }, ...views],
  };
}

/** Lets the requesters answer, or anyone; only the person themselves can connect their account. */
function freeTerms(
  kind: AnswerKind,
  person: string | undefined,
  isForAnyone: boolean,
  requesters: readonly string[],
): PolicySnapshot {
  return answerSnapshot(person === undefined ? requesters : [person], {
    limitToRequester: !isForAnyone,
    expiresInMs: kind === 'callback' ? CALLBACK_MS : QUESTION_MS,
  });
}

/** Lets the approvers of a policy answer, on its terms. An answer is one person's, so a policy that needs more cannot take one. */
async function policyTerms(
  { toolbox, directory }: Pick<BotContext, 'toolbox' | 'directory'>,
  name: string,
  { requesters, contextAuthors }: Pick<RequestOrigin, 'requesters' | 'contextAuthors'>,
) {
  const policy = toolbox.policy(name);
  if (policy === undefined) return noticeTexts.noPolicy(name);
  if (policy.quorum > 1 || policy.confirm === 'passkey') return noticeTexts.oneAnswer(name);
  const snapshot = snapshotOf(policy);
  const barred = [
    ...new Set([
      ...(policy.selfApproval ? [] : requesters),
      ...(policy.separation === 'thread' ? contextAuthors : []),
      ...policy.excluded.filter(isSlackPerson),
    ]),
  ];
  const { approvers, places, isSure } = await eligibleApprovers(directory.relaxed(), snapshot, {
    requesters,
    barred,
  });
  if (isSure && places < policy.quorum) return noticeTexts.tooFewApprovers(name, policy.quorum, places);
  return { policy: snapshot, barred, views: otherViews(policy, approvers, []) };
}
