/** A person with the numbers of the approver groups they may approve for, from 1. */
export interface GroupMember {
  readonly who: string;
  readonly groups: readonly number[];
}

/**
 * Assigns people to the places of approver groups, each person to one place only, so that as many places as possible are filled.
 * Returns the people of each group.
 */
export function fillGroups(
  quorums: readonly number[],
  members: readonly GroupMember[],
): readonly (readonly string[])[] {
  const places = quorums.flatMap((quorum, index) => new Array<number>(quorum).fill(index + 1));
  const holders = new Map<number, GroupMember>();
  const seat = (member: GroupMember, tried: Set<number>): boolean =>
    places.some((group, place) => {
      if (!member.groups.includes(group) || tried.has(place)) return false;
      tried.add(place);
      const holder = holders.get(place);
      if (holder !== undefined && !seat(holder, tried)) return false;
      holders.set(place, member);
      return true;
    });
  for (const member of members) seat(member, new Set());
  return quorums.map((_, index) =>
    places.flatMap((group, place) => (group === index + 1 ? (holders.get(place)?.who ?? []) : [])),
  );
}
