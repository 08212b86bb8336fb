import { z } from 'zod';
import { compileExpression, type JudgedCall } from '../../policy/condition.ts';
import type { ApproverLookup, Policy } from '../../policy/policy.ts';
import type { PolicySnapshot, RequestRecord } from '../../store/port/request-record.ts';
import { lookUpEmail } from '../../tools/presentation/linked-call.ts';
import { approvalsByGroup } from '../approvals.ts';
import type { Directory, EngineContext, Voter } from '../ports.ts';

type Group = NonNullable<PolicySnapshot['groups']>[number];

/** The approver groups of one call, or the reason why they cannot be known. */
export type ResolvedGroups =
  | {
      readonly ok: true;
      readonly groups: readonly Group[];
      /** Those who may not approve: of the policy, and those whom the call names. */
      readonly excluded: readonly string[];
    }
  | { readonly ok: false; readonly problem: ApproverProblem };

/** The reason why the approvers of a call cannot be known; nobody else can approve instead. */
export type ApproverProblem =
  /** The tool that finds them failed. */
  | { readonly code: 'not-found' }
  /** The call has no address, or another one for each requester. */
  | { readonly code: 'not-said' }
  | { readonly code: 'not-checked' | 'nobody'; readonly email: string }
  /** The call does not say who may not approve it, or names somebody who is not known. */
  | { readonly code: 'author-not-said' }
  | { readonly code: 'author-not-checked' | 'author-unknown'; readonly named: string };

/** The lookups that find the approvers of a call. */
interface Lookups {
  readonly directory: Directory;
  readonly toolbox: EngineContext['toolbox'];
}

const Emails = z.union([z.string().transform((email) => [email]), z.array(z.string()).min(1)]);

/**
 * Looks up the approvers that a policy takes from the call. An address that is no address, belongs to nobody, or cannot be looked up
 * now gives a problem, so that nobody else can approve instead.
 */
export async function resolveGroups(
  { directory, toolbox }: Lookups,
  policy: Policy,
  call: JudgedCall & { readonly threadId: string },
): Promise<ResolvedGroups> {
  const groups: Group[] = [];
  for (const { any, from, quorum } of policy.groups) {
    const emails =
      typeof from === 'object'
        ? await emailsFound({ directory, toolbox }, from, call).catch(() => 'failed' as const)
        : from === undefined
          ? []
          : emailsFrom(from, call);
    if (emails === 'failed') return { ok: false, problem: { code: 'not-found' } };
    if (emails === undefined) return { ok: false, problem: { code: 'not-said' } };
    const people: string[] = [];
    for (const email of emails) {
      const person = await directory.personWithEmail(email).catch(() => 'unavailable' as const);
      if (person === 'unavailable') return { ok: false, problem: { code: 'not-checked', email } };
      if (person === undefined) return { ok: false, problem: { code: 'nobody', email } };
      people.push(person);
    }
    groups.push({ any: [...new Set([...any, ...people])], quorum });
  }
  const excluded = new Set(policy.excluded);
  for (const expression of policy.excludedFrom ?? []) {
    const named = peopleNamed(expression, call);
    if (named === undefined) return { ok: false, problem: { code: 'author-not-said' } };
    for (const each of named) {
      const person = await personNamed(directory, each);
      if (person === 'unavailable')
        return { ok: false, problem: { code: 'author-not-checked', named: each } };
      if (person === undefined) return { ok: false, problem: { code: 'author-unknown', named: each } };
      excluded.add(person);
    }
  }
  return { ok: true, groups, excluded: [...excluded] };
}

const Named = z.union([
  z
    .string()
    .min(1)
    .transform((one) => [one]),
  z.array(z.string().min(1)).min(1),
]);

/** Evaluates who may not approve, for every requester; `undefined` if that is not said for one of them. */
function peopleNamed(expression: string, { requesters, ...call }: JudgedCall): readonly string[] | undefined {
  const evaluate = compileExpression(expression);
  const found = (requesters.length === 0 ? [''] : requesters).map((requester) => {
    const result = evaluate({ ...call, requesters, requester });
    return 'value' in result ? Named.safeParse(result.value).data : undefined;
  });
  return found.some((named) => named === undefined) ? undefined : found.flatMap((named) => named ?? []);
}

/** Finds a person by member ID, mention or address; `undefined` if there is nobody. */
async function personNamed(directory: Directory, named: string): Promise<string | undefined> {
  const id = /^<@(\w+)(?:\|[^>]*)?>$/.exec(named)?.[1] ?? named;
  try {
    if (directory.isPerson(id)) return (await directory.member(id)).id;
    return /^[^\s@]+@[^\s@]+$/.test(named) ? await directory.personWithEmail(named) : undefined;
  } catch (error) {
    const isGone = directory.isPerson(id) && !directory.mayAskLater(error);
    return isGone ? undefined : 'unavailable';
  }
}

/** Evaluates the addresses; `undefined` if there are none, or if they are not the same for every requester. */
function emailsFrom(expression: string, { requesters, ...call }: JudgedCall): readonly string[] | undefined {
  const evaluate = compileExpression(expression);
  return sameEmails(
    (requesters.length === 0 ? [''] : requesters).map((requester) => {
      const result = evaluate({ ...call, requesters, requester });
      return 'value' in result ? result.value : undefined;
    }),
  );
}

/** Asks the tool that finds the approver, once for each requester; throws if it fails, or a look-up does. */
async function emailsFound(
  { directory, toolbox }: Lookups,
  lookup: ApproverLookup,
  { threadId, channel, requesters, contextAuthors, input }: JudgedCall & { readonly threadId: string },
): Promise<readonly string[] | undefined> {
  const found = await Promise.all(
    requesters.map(async (requester) => {
      const { email } = await directory.member(requester);
      const values = { input, requester: { id: requester, ...(email !== undefined && { email }) } };
      const context = { threadId, channel, requester, requesters, contextAuthors };
      return lookUpEmail(lookup, values, toolbox.read, context);
    }),
  );
  return sameEmails(found);
}

/** Returns the addresses if they are addresses and the same for every requester. */
function sameEmails(results: readonly unknown[]): readonly string[] | undefined {
  const found = results.map((result) => Emails.safeParse(result).data);
  const [first] = found;
  const isSame = found.every((emails) => JSON.stringify(emails) === JSON.stringify(first));
  if (first === undefined || !isSame) return undefined;
  return first.every((email) => /^[^\s@]+@[^\s@]+$/.test(email)) ? first : undefined;
}

/** Lists the numbers of the groups that a person is in, from 1. Throws if a group cannot be looked up. */
export async function membershipsOf(
  directory: Directory,
  who: string,
  groups: readonly Group[],
): Promise<readonly number[]> {
  const isIn = await Promise.all(groups.map(({ any }) => directory.isAmong(who, any)));
  return groups.flatMap((_, index) => (isIn[index] === true ? [index + 1] : []));
}

/**
 * Lists the numbers of the groups that a person may approve a request for; `undefined` if its policy has no groups. Somebody it was
 * escalated to may for any of them.
 */
export async function approvableGroups(
  directory: Directory,
  who: string,
  request: Pick<RequestRecord, 'policy' | 'principals'>,
): Promise<readonly number[] | undefined> {
  const { groups, principals } = request.policy;
  if (groups === undefined) return undefined;
  return groupsFor(directory, who, { groups, principals, all: request.principals });
}

/** Lists the numbers of these groups that a person may approve for; somebody who was only added later may for any of them. */
export async function groupsFor(
  directory: Directory,
  who: string,
  {
    groups,
    principals,
    all,
  }: {
    readonly groups: readonly Group[];
    readonly principals: readonly string[];
    readonly all: readonly string[];
  },
): Promise<readonly number[]> {
  const added = all.filter((id) => !principals.includes(id));
  if (await directory.isAmong(who, added)) return groups.map((_, index) => index + 1);
  return membershipsOf(directory, who, groups);
}

/** Tells whether the approvals on record and that of one more person are all that a request needs. */
export async function wouldComplete(
  directory: Directory,
  request: RequestRecord,
  { who, standsFor }: Voter,
): Promise<boolean> {
  const { quorum } = request.policy;
  if (request.approvals + 1 < quorum) return false;
  const groups = await approvableGroups(directory, standsFor ?? who, request);
  return groups === undefined || approvalsByGroup(request, [{ who, groups }]).flat().length >= quorum;
}
