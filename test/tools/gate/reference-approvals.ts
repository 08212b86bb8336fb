import {
  type ReferenceCall,
  type ReferencePolicy,
  type ReferenceTool,
  referenceVerdict,
} from './reference.ts';

/** One tool with its policies, and who is in which user group. */
export interface ReferenceManifest {
  readonly tool: ReferenceTool;
  readonly policies: ReadonlyMap<string, ReferencePolicy>;
}

export type Membership = ReadonlyMap<string, readonly string[]>;

/** Tells whether a call may run once these people have approved it. */
export function mayRun(
  { tool, policies }: ReferenceManifest,
  call: ReferenceCall,
  approvals: readonly string[],
  members: Membership,
): boolean {
  const verdict = referenceVerdict(tool, call);
  if (typeof verdict === 'string') return verdict === 'run';
  return verdict.ask.every((name) => isEnough(policies.get(name), call, approvals, members));
}

/** Tells whether these people's approvals are enough under a policy. */
export function isEnough(
  policy: ReferencePolicy | undefined,
  call: ReferenceCall,
  approvals: readonly string[],
  members: Membership,
): boolean {
  if (policy === undefined) return false;
  const isIn = (person: string, ids: readonly string[]) =>
    ids.some((id) => id === person || members.get(id)?.includes(person) === true);
  const eligible = approvals.filter((person) => {
    if (isIn(person, policy.excluded)) return false;
    if (call.requesters.includes(person)) return policy.selfApproval;
    return policy.separation === 'requesters' || !call.contextAuthors.includes(person);
  });
  const places = policy.groups.flatMap(({ any, quorum }) => new Array<readonly string[]>(quorum).fill(any));
  return fills(places, eligible, isIn);
}

/** Tries every way to give each place a person of its own. */
function fills(
  [place, ...others]: readonly (readonly string[])[],
  people: readonly string[],
  isIn: (person: string, ids: readonly string[]) => boolean,
): boolean {
  if (place === undefined) return true;
  return people.some(
    (person) =>
      isIn(person, place) &&
      fills(
        others,
        people.filter((other) => other !== person),
        isIn,
      ),
  );
}
