import { pointerTo } from '../../agent/util/json-pointer.ts';
import type { ApproverGroup, Policy } from '../../tools/gate/policy.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';

/** The role of an id: it decides which kinds of accounts fit. */
export type Role = 'approver' | 'admin' | 'person' | 'bot' | 'posting' | 'channel';

/** An id of the manifest, with its place. */
export interface Reference {
  readonly id: string;
  readonly pointer: string;
  readonly role: Role;
}

/** Lists every id of people, user groups, bots and channels in a manifest. */
export function referencesIn({ agent, policies, tools }: Manifest): Reference[] {
  return [
    ...list('/agent/admins', agent.admins, 'admin'),
    ...(agent.unfreeze.approvers === agent.admins
      ? []
      : list('/agent/unfreeze/approvers', agent.unfreeze.approvers, 'approver')),
    ...changeReferences(agent.policyChanges),
    ...list('/agent/askers/people', agent.askers.people, 'person'),
    ...list('/agent/askers/groups', agent.askers.groups, 'person'),
    ...list('/agent/askers/channels', agent.askers.channels, 'channel'),
    ...list('/agent/askers/bots', agent.askers.bots, 'bot'),
    ...[...agent.channels.keys()].map((id) => ({
      id,
      pointer: pointerTo('/agent/channels', id),
      role: 'channel' as const,
    })),
    ...[...policies.values()].flatMap((policy) => {
      const pointer = pointerTo('/policies', policy.name);
      const resolvers = policy.resolvers === policy.approvers ? [] : policy.resolvers;
      return [
        ...policy.groups.flatMap((group) => list(`${pointer}${group.pointer}`, group.any, 'approver')),
        ...list(`${pointer}/approvers/not`, policy.excluded, 'person'),
        ...list(`${pointer}/escalate/to`, policy.escalate?.to, 'approver'),
        ...list(`${pointer}/resolvers`, resolvers, 'approver'),
        ...list(`${pointer}/announce`, policy.announce, 'posting'),
      ];
    }),
    ...tools.flatMap(({ name, allow }) => {
      const pointer = pointerTo('/tools', name);
      return [
        ...list(`${pointer}/allow/channels`, allow.channels, 'channel'),
        ...list(`${pointer}/allow/people`, allow.people, 'person'),
      ];
    }),
  ];
}

function list(pointer: string, ids: readonly string[] | undefined, role: Role): Reference[] {
  return (ids ?? []).map((id, index) => ({ id, pointer: pointerTo(pointer, index), role }));
}

function changeReferences(changes: Manifest['agent']['policyChanges']): Reference[] {
  if (changes === undefined) return [];
  const pointer = '/agent/policy_changes';
  return [
    ...list(`${pointer}/approvers`, changes.policy.approvers, 'approver'),
    { id: changes.channel, pointer: `${pointer}/channel`, role: 'posting' },
  ];
}

/** A number of people who must agree, with its place. */
export interface Quorum extends Pick<Policy, 'excluded' | 'escalate'> {
  readonly pointer: string;
  readonly groups: readonly Pick<ApproverGroup, 'any' | 'from' | 'quorum'>[];
}

/** Lists every quorum of a manifest. */
export function quorumsIn({ agent, policies }: Manifest): Quorum[] {
  const { unfreeze, policyChanges } = agent;
  const { approvers: any, quorum } = unfreeze;
  const ofPolicy = (pointer: string, { groups, excluded, escalate }: Policy): Quorum => ({
    pointer: `${pointer}/${groups.length > 1 ? 'approvers' : 'quorum'}`,
    ...{ groups, excluded, escalate },
  });
  return [
    ...[...policies.values()].map((policy) => ofPolicy(pointerTo('/policies', policy.name), policy)),
    ...(policyChanges === undefined ? [] : [ofPolicy('/agent/policy_changes', policyChanges.policy)]),
    // Without a rule of its own one of the admins is enough.
    ...(any === agent.admins
      ? []
      : [
          {
            pointer: '/agent/unfreeze/quorum',
            groups: [{ any, from: undefined, quorum }],
            excluded: [],
            escalate: undefined,
          },
        ]),
  ];
}
