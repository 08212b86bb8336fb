import type { JsonObject } from '../../agent/json.ts';
import type { CallPart, Interrupt } from '../../agent/messages.ts';
import { type NewRequest, type PolicySnapshot, requestIdOf } from '../../store/port.ts';
import type { Policy } from '../../tools/gate/policy.ts';
import { requestDigest } from '../../tools/toolbox/request-digest.ts';
import type { ToolEntry } from '../../tools/toolbox/toolbox.ts';
import type { BotParts } from '../bot-parts.ts';
import { mayDecide } from '../people/may-decide.ts';
import { toDetails } from '../request-details.ts';
import { parseThreadId } from '../thread.ts';
import { problemWithAsked, purposeOf } from './awaited-schema.ts';
import { pauseOf } from './kind-of.ts';
import { asJson, askingSnapshot, snapshotOf } from './policy-snapshot.ts';
import { channelView, personView, THREAD_VIEW } from './view-ids.ts';

const DAY_MS = 86_400_000;
const QUESTION_MS = DAY_MS;
const CALLBACK_MS = 7 * DAY_MS;
/** More direct messages than this are a crowd, not approvers; they still find the request in the thread and in App Home. */
const MOST_DIRECT = 20;
const NO_EXECUTION = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** Where, for whom and in what words of the model something is asked. */
export interface Asked {
  readonly threadId: string;
  readonly requester: string;
  readonly why: string;
}

/** Makes a request of one call that waits for people, or says why nobody could ever sign it. */
export async function planRequest(
  { toolbox, directory }: Pick<BotParts, 'toolbox' | 'directory'>,
  { threadId, requester, why }: Asked,
  call: CallPart,
  interrupt: Interrupt,
): Promise<NewRequest | string> {
  const pause = pauseOf(interrupt);
  const entry = toolbox.find(interrupt.toolRequest.name);
  if (entry === undefined) return `There is no tool "${interrupt.toolRequest.name}" any more.`;
  if (pause.kind === 'exit') return 'A task cannot be completed twice.';
  const { tool } = entry;
  const base = { id: requestIdOf(threadId, interrupt.id), requester };
  const bind = (snapshot: PolicySnapshot) => ({
    policy: snapshot,
    ground: toolbox.ground(),
    digest: requestDigest({
      entry,
      policy: asJson(snapshot),
      input: interrupt.toolRequest.input,
      requester,
      threadId,
    }),
  });
  const threadView = { id: THREAD_VIEW, place: { ...parseThreadId(threadId) } };

  if (pause.kind !== 'approval') {
    const problem = problemWithAsked(interrupt);
    if (problem !== undefined) return problem;
    const purpose = purposeOf(interrupt);
    const shown = { description: tool.description, ...(purpose !== undefined && { purpose }) };
    const details = toDetails(call, interrupt, shown);
    const snapshot = askingPolicy(entry, requester, pause.kind);
    return {
      ...base,
      kind: pause.kind,
      details,
      ...bind(snapshot),
      execution: NO_EXECUTION,
      views: [threadView],
    };
  }
  const policy = toolbox.policy(pause.policy);
  if (policy === undefined) return `Nobody can sign this: there is no policy "${pause.policy}".`;
  const { signers, isSure } = await signersOf(directory, policy, requester);
  // Where Slack could not be asked it is asked again at the click and before the start; nobody signs unseen.
  if (isSure && signers.length < policy.quorum) {
    return `Nobody can sign this: policy "${policy.name}" needs ${policy.quorum}, and ${signers.length} may.`;
  }
  const { name, risk, confirm } = policy;
  const shown = { name, risk, confirm, own: pause.own };
  return {
    ...base,
    kind: 'approval',
    details: toDetails(call, interrupt, {
      description: tool.description,
      ...(pause.own && { rule: pause.rule }),
      policy: shown,
      ...(why !== '' && { why }),
    }),
    ...bind(snapshotOf(policy)),
    execution: entry.execution,
    views: [threadView, ...otherViews(policy, signers)],
  };
}

/** The people who could sign now: members in good standing, and not the requester unless the policy allows it. */
async function signersOf(
  directory: BotParts['directory'],
  policy: Policy,
  requester: string,
): Promise<{ readonly signers: string[]; readonly isSure: boolean }> {
  const { people, isSure } = await directory.peopleBehind(policy.approvers);
  const allowed = people.filter((id) => policy.selfApproval || id !== requester);
  const checked = await Promise.all(allowed.map((id) => mayDecide(directory, id, policy.approvers)));
  return {
    signers: allowed.filter((_, index) => checked[index]?.eligible === true),
    isSure: isSure && checked.every((permission) => permission.eligible || permission.checked),
  };
}

function askingPolicy(
  entry: ToolEntry,
  requester: string,
  kind: 'question' | 'form' | 'callback',
): PolicySnapshot {
  const limitToRequester = entry.answerableBy === 'requester';
  return askingSnapshot(requester, {
    limitToRequester,
    expiresInMs: kind === 'callback' ? CALLBACK_MS : QUESTION_MS,
  });
}

/** Where the card stands beside the thread: the policy's channels, and the approvers' direct messages. */
function otherViews(policy: Policy, signers: readonly string[]): { id: string; place: JsonObject }[] {
  const announced = policy.announce.map((channel) => ({ id: channelView(channel), place: { channel } }));
  if (!policy.directMessages) return announced;
  return [
    ...announced,
    ...signers.slice(0, MOST_DIRECT).map((user) => ({ id: personView(user), place: { user } })),
  ];
}
