import { z } from 'zod';
import { generate } from '../../agent/generate.ts';
import { toJson } from '../../agent/json.ts';
import { type UserMessage, userMessage } from '../../agent/messages.ts';
import type { Model } from '../../agent/model.ts';
import { settle } from '../../agent/settle.ts';
import { peopleOf } from '../../engine/task-people.ts';
import { TurnJournal } from '../../engine/turn-journal.ts';
import type { RunningTurn } from '../../engine/turn-lease.ts';
import type { ClaimedTurn, TurnEnd } from '../../store/port/store.ts';
import { changeName, POLICY_CHANGE_TOOL, PolicyChange } from '../../tools/toolbox/policy-change.ts';
import { openRequests } from '../asks/plan/open-requests.ts';
import { repliesTo } from '../asks/replies-to.ts';
import type { BotContext } from '../context.ts';
import { tellAdmins } from '../outbox/tell-admins.ts';
import { isUnthreaded, unthreadedId } from '../slack/thread.ts';
import { adminTexts } from '../views/texts/notices.ts';
import { engineContext, toolContext } from './engine-context.ts';

/** Stands in place of the requester: nobody can know who edited the file. */
const FILE = 'manifest.yml';
const Item = z.object({ policyChange: PolicyChange });

/** Asks the approvers of policy changes about a changed manifest, once for each change, from whichever process. */
export async function proposeChange(
  { store, agent }: Pick<BotContext, 'store' | 'agent'>,
  change: PolicyChange,
): Promise<void> {
  const { policyChanges } = agent();
  if (policyChanges === undefined) return;
  const threadId = unthreadedId(policyChanges.channel, changeName(change));
  await store.enqueue(threadId, { id: 'change', body: { policyChange: toJson(change) } });
}

/** Tells whether a thread is one of a change of the policies; no model works in it. */
export function isPolicyThread(threadId: string): boolean {
  return isUnthreaded(threadId);
}

/** Opens the request of a change, or records how it ended. The admins are told if it was not applied. */
export async function runPolicyChange(
  context: BotContext,
  turn: ClaimedTurn,
  { signal, lease }: RunningTurn,
): Promise<TurnEnd> {
  const { toolbox } = context;
  const journal = new TurnJournal(engineContext(context), turn, lease);
  if (turn.settled.length === 0) {
    const change = turn.inbox.flatMap(({ body }) => Item.safeParse(body).data?.policyChange ?? [])[0];
    if (change === undefined || turn.messages.length > 0) return { messages: [], read: turn.inbox.length };
    const messages = [messageOf(change)];
    const { messages: called } = await generate({
      model: callingModel(change),
      messages,
      tools: toolbox.tools().filter(({ name }) => name === POLICY_CHANGE_TOOL),
      context: toolContext(context, turn.threadId, peopleOf(messages, toolbox)),
      maxSteps: 1,
      signal,
      journal,
    });
    const asked = await openRequests(context, turn.threadId, called);
    if (asked.requests.length === 0) await tellNotApplied(context, turn.threadId, 'asked');
    return { ...journal.rest(asked.messages, turn.inbox.length), requests: asked.requests };
  }
  const settled = await settle({
    messages: turn.messages,
    tools: toolbox.tools(),
    resume: repliesTo(turn.settled, turn.messages, toolbox.tools()),
    context: toolContext(context, turn.threadId, peopleOf(turn.messages, toolbox)),
    signal,
    journal,
  });
  const again = await openRequests(context, turn.threadId, settled.messages, { anew: true });
  const [ended] = turn.settled;
  if (again.requests.length === 0 && ended !== undefined && ended.state !== 'succeeded')
    await tellNotApplied(context, turn.threadId, ended.state);
  return { ...journal.rest(again.messages, turn.inbox.length), requests: again.requests };
}

async function tellNotApplied(context: BotContext, threadId: string, state: string): Promise<void> {
  await tellAdmins(context, threadId, {
    id: `${threadId}/not-applied/${state}`,
    text: adminTexts.changeNotApplied(state),
    kind: 'notice',
  });
}

function messageOf(change: PolicyChange): UserMessage {
  const text = `The file has changed:\n${change.diff}`;
  return userMessage(text, { user: FILE, role: 'requester' });
}

/** Calls the one tool, in place of a model. */
function callingModel(change: PolicyChange): Model {
  return {
    name: FILE,
    async reply() {
      const call = { id: 'apply', name: POLICY_CHANGE_TOOL, arguments: JSON.stringify(change) };
      return { finish: 'stop', text: '', calls: [call], usage: undefined };
    },
  };
}
