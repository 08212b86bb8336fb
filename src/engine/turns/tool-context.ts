import type { ToolContext } from '../../agent/tool.ts';
import type { PlanContext } from '../../tools/built-ins.ts';
import { planProblem } from '../plans.ts';
import { channelOf } from '../ports.ts';
import { NOBODY, type TaskPeople } from '../task-people.ts';
import type { TurnContext } from './turn-context.ts';

/** Builds the context of every tool call: its thread, its people, and the callback address for external systems. */
export function toolContext(
  { callbackUrl, toolbox }: Pick<TurnContext, 'callbackUrl' | 'toolbox'>,
  threadId: string,
  { requesters, contextAuthors }: TaskPeople,
): ToolContext {
  const channel = channelOf(threadId);
  const planning: PlanContext = {
    planProblem: (plan) => planProblem(toolbox, { requesters, contextAuthors, channel }, plan),
  };
  return {
    ...planning,
    threadId,
    requester: requesters[0] ?? NOBODY,
    requesters,
    contextAuthors,
    channel,
    callbackUrl: (idempotencyKey: string) => callbackUrl({ threadId, idempotencyKey }),
  };
}
