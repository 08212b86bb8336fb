import { pointerTo } from '../../agent/json.ts';
import { groupsNamedIn, profileAskedFor, usesGroups } from '../../policy/condition.ts';
import type { Manifest } from './manifest.ts';

/** Tells whether a manifest asks for the user groups of requesters. */
export function asksForGroups({ tools }: Pick<Manifest, 'tools'>): boolean {
  return tools.some(
    ({ allow, approval }) =>
      allow.groups !== undefined || approval.some(({ when }) => when !== undefined && usesGroups(when)),
  );
}

/** Tells whether a rule of a manifest asks for the profiles of requesters, or for one part of them. */
export function asksForProfiles({ tools }: Pick<Manifest, 'tools'>, part?: 'email' | 'name'): boolean {
  return tools.some(({ approval }) =>
    approval.some(({ when = '' }) =>
      profileAskedFor(when).some((asked) => part === undefined || asked === part),
    ),
  );
}

/** Lists the user groups of requesters that a manifest names, each with its place. */
export function groupsAskedFor({ tools }: Pick<Manifest, 'tools'>): { id: string; pointer: string }[] {
  return tools.flatMap(({ name, allow, approval }) => {
    const pointer = pointerTo('/tools', name);
    const named = approval.flatMap(({ when }) => (when === undefined ? [] : groupsNamedIn(when)));
    return [
      ...(allow.groups ?? []).map((id, index) => ({ id, pointer: `${pointer}/allow/groups/${index}` })),
      ...[...new Set(named)].map((id) => ({ id, pointer: `${pointer}/approval` })),
    ];
  });
}
