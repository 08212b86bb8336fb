import type { ToolContext } from '../../agent/tool.ts';
import { planProblem } from '../../engine/plans.ts';
import type { CheckedApprovers, EngineContext, GrantUsed, People, Voter } from '../../engine/ports.ts';
import { NOBODY, type TaskPeople } from '../../engine/task-people.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import type { PlanContext } from '../../tools/built-ins.ts';
import { readableName } from '../../tools/presentation/formats.ts';
import { approvableGroups } from '../asks/approver-groups.ts';
import { askerProblem } from '../asks/may-ask.ts';
import { presentCall } from '../asks/plan/present-call.ts';
import { mayVote } from '../asks/stand-ins.ts';
import type { BotContext } from '../context.ts';
import { isSlackPerson } from '../slack/directory.ts';
import { limits } from '../slack/limits.ts';
import { parseThreadId, placeIn } from '../slack/thread.ts';
import { grantTexts } from '../views/texts/grants.ts';
import { reasonTexts } from '../views/texts/reasons.ts';
import { showLabel } from '../views/texts/show-text.ts';

/** Makes Slack a door into the engine: its people and its words. */
export function engineContext(context: BotContext): EngineContext {
  const { store, toolbox, logger } = context;
  return {
    ...{ store, toolbox, logger },
    people: slackPeople(context),
    describeRefusal: (refusal) => reasonTexts(refusal).why,
    tellOfGrant: (used) => tellOfGrant(context, used),
  };
}

/** Looks the people of Runs up in Slack; throws if Slack cannot be asked. */
function slackPeople({ directory, agent }: Pick<BotContext, 'directory' | 'agent'>): People {
  return {
    async mayAllAsk(people, channel) {
      const problems = await Promise.all(
        people
          .filter(isSlackPerson)
          .map((user) => askerProblem(directory, agent().askers, { user, channel })),
      );
      return problems.every((problem) => problem === undefined);
    },
    checkApprovers: (request, approvers) => checkApprovers(directory, request, approvers),
  };
}

/**
 * Checks which approvals still count. One in the place of somebody counts as long as that person is an approver, also after the
 * delegation has ended.
 */
async function checkApprovers(
  directory: BotContext['directory'],
  request: RequestRecord,
  approvers: readonly Voter[],
): Promise<CheckedApprovers> {
  const checked = await Promise.all(
    approvers.map(async (voter) => ({ ...voter, ...(await mayVote(directory, voter, request)) })),
  );
  if (checked.some((person) => !person.eligible && !person.checked))
    throw new Error('The approvers could not be checked');
  const eligible = checked.filter((person) => person.eligible);
  const memberships = await Promise.all(
    eligible.map(
      async ({ who, standsFor }) =>
        [who, await approvableGroups(directory, standsFor ?? who, request)] as const,
    ),
  );
  return {
    stillEligible: eligible.map(({ who }) => who),
    ...(request.policy.groups !== undefined && {
      groups: Object.fromEntries(memberships.map(([who, groups = []]) => [who, groups])),
    }),
    evidence: Object.fromEntries(checked.map(({ who, evidence }) => [who, evidence])),
  };
}

/** Says in the thread what ran without a card of its own, and who had allowed it. */
async function tellOfGrant(
  { store, toolbox, directory }: Pick<BotContext, 'store' | 'toolbox' | 'directory'>,
  { grant: { grant, by, uses, call }, threadId, tool, input, used, end }: GrantUsed,
): Promise<void> {
  const entry = toolbox.find(tool);
  const presented = entry && (await presentCall(directory, entry, input));
  const written = (end === 'succeeded' ? presented?.done : undefined) ?? presented?.title;
  const title = showLabel(written ?? readableName(tool), limits.description);
  await store.enqueueOutbox(threadId, {
    id: `${grant}/${call}`,
    body: {
      ...{ kind: 'titled', ...placeIn(threadId), text: grantTexts.icon[end], title },
      ...{ tail: grantTexts.used[end], people: by, end: grantTexts.count(used, uses) },
    },
  });
}

/** Builds the context of every tool call: its thread, its people, and the callback address for external systems. */
export function toolContext(
  { callbacks, toolbox }: Pick<BotContext, 'callbacks' | 'toolbox'>,
  threadId: string,
  { requesters, contextAuthors }: TaskPeople,
): ToolContext {
  const { channel } = parseThreadId(threadId);
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
    callbackUrl: (idempotencyKey: string) => callbacks.make({ threadId, idempotencyKey }),
  };
}
