import { OUTCOME_UNKNOWN } from '../../agent/calls/journal.ts';
import { type JsonValue, toJson } from '../../agent/json.ts';
import type { Interrupt } from '../../agent/messages.ts';
import { serverPauseOf } from '../../tools/mcp/server-pause.ts';
import type { ToolEntry } from '../../tools/toolbox/toolbox.ts';
import type { BotContext } from '../context.ts';
import type { Paused } from '../requests/paused-action.ts';
import { snapshotOf } from '../requests/policy-snapshot.ts';
import { parseThreadId } from '../slack/thread.ts';

/** The place and the people of a call. */
export interface CallPeople {
  readonly threadId: string;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
}

/** Finds the people to whom the questions of a tool's server are put, and the policy that its rules name for the call. */
export function peopleAsked(
  toolbox: BotContext['toolbox'],
  entry: ToolEntry,
  input: JsonValue,
  { threadId, requesters, contextAuthors }: CallPeople,
): { readonly people: readonly string[]; readonly policy: string | undefined } {
  const { channel } = parseThreadId(threadId);
  const verdict = entry.judge(input, { requesters, contextAuthors, channel });
  const policy = verdict.outcome === 'ask' ? verdict.policy : undefined;
  const { ask = 'requester' } = entry.elicitation ?? {};
  const principals = ask === 'approvers' ? approversFor(toolbox, policy ?? entry.resolvedBy) : ask;
  const people = principals === undefined || principals === 'requester' ? requesters : principals;
  return { people, policy };
}

function approversFor(
  toolbox: BotContext['toolbox'],
  policyName: string | undefined,
): readonly string[] | undefined {
  const policy = toolbox.policy(policyName ?? '');
  return policy && snapshotOf(policy).principals;
}

/** Says what a call waits for that paused while it ran. */
export function describePause(
  toolbox: BotContext['toolbox'],
  interrupt: Interrupt,
  people: CallPeople,
): Paused {
  if (interrupt.metadata?.[OUTCOME_UNKNOWN] !== undefined) return { paused: 'unknown' };
  const pause = serverPauseOf(interrupt);
  const { name, input } = interrupt.toolRequest;
  const entry = toolbox.find(name);
  if (pause === undefined || entry === undefined) return { paused: 'tool' };
  const { server } = pause;
  if (pause.kind === 'task') return { paused: 'task', server };
  const { people: asked } = peopleAsked(toolbox, entry, toJson(input), people);
  return { paused: 'question', server, asked: [...asked] };
}
