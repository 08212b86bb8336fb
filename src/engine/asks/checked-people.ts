import type { RequestRecord } from '../../store/port/request-record.ts';
import type { Askers } from '../../tools/manifest/manifest.ts';
import type { CheckedApprovers, Directory, People, Voter } from '../ports.ts';
import { approvableGroups } from './approver-groups.ts';
import { askerProblem } from './may-ask.ts';
import { mayVote } from './stand-ins.ts';

/** Checks the people of Runs; throws if somebody cannot be looked up now. */
export function checkedPeople(directory: Directory, agent: () => { readonly askers: Askers }): People {
  return {
    async mayAllAsk(people, channel) {
      const problems = await Promise.all(
        people
          .filter((id) => directory.isPerson(id))
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
  directory: Directory,
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
