import { referenceVerdict } from '../tools/gate/reference.ts';
import {
  type Approval,
  type Composition,
  emailOf,
  type Grant,
  type OracleCall,
  type OracleLimit,
  type OraclePolicy,
} from './compositions.ts';

/**
 * Knows what DESIGN.md promises about one call, and nothing about how the bot keeps it: never fewer approvals than the strictest rule
 * that matches, never another person's right, nothing while it is frozen, and no more than a limit.
 */
export class Oracle {
  readonly rules: Composition['rules'];
  readonly standing: Record<string, Composition['standing'][string]>;
  readonly members: Record<string, readonly string[]>;
  readonly delegations: Record<string, { readonly to: string; readonly isSigned: boolean }> = {};
  isFrozen = false;
  readonly #used = new Map<string, number>();
  readonly #done = new Set<string>();
  readonly #grants: Grant[] = [];

  constructor({ rules, standing, members }: Omit<Composition, 'steps'>) {
    this.rules = rules;
    this.standing = { ...standing };
    this.members = { ...members };
  }

  isActive = (person: string) => this.standing[person] === 'active';

  /** Says what must happen to a call now: it is denied, it runs, or all of these policies must be satisfied. */
  judge(call: OracleCall): 'deny' | 'run' | readonly string[] {
    const verdict = referenceVerdict(this.rules, call);
    const over = this.over(call);
    if (verdict === 'deny' || over.some(({ policy }) => policy === undefined)) return 'deny';
    const own = verdict === 'run' ? [] : verdict.ask;
    const asked = new Set([...own, ...over.flatMap(({ policy }) => policy ?? [])]);
    return asked.size === 0 ? (call.editedUnder ?? 'run') : [...asked];
  }

  /** Lists the limits that a call would exceed; an amount that nobody can tell exceeds each that sums. */
  over(call: OracleCall): readonly OracleLimit[] {
    return this.rules.limits.filter((limit) => {
      const amount = amountOf(limit, call) ?? Number.POSITIVE_INFINITY;
      return this.#keysOf(limit, call).some((key) => (this.#used.get(key) ?? 0) + amount > limit.max);
    });
  }

  /** Counts a call that ran, once. */
  count(call: OracleCall): void {
    for (const limit of this.rules.limits)
      for (const key of this.#keysOf(limit, call))
        this.#used.set(key, (this.#used.get(key) ?? 0) + (amountOf(limit, call) ?? 0));
  }

  /** Notes that a call has succeeded, so that it is no first one for its requesters and its target any more. */
  finish({ requesters, input: { owner } }: OracleCall): void {
    this.#done.add(`target ${String(owner)}`);
    for (const who of requesters) this.#done.add(`tool ${who}`).add(`pair ${who} ${String(owner)}`);
  }

  /** Says of everyone whose words led to a call whether it is a first one; without an owner there is no target. */
  firstTimes({ requesters, contextAuthors, input: { owner } }: OracleCall): NonNullable<OracleCall['first']> {
    const isFirst = (what: string) => !this.#done.has(what);
    return Object.fromEntries(
      [...requesters, ...contextAuthors].map((who) => [
        who,
        {
          tool: isFirst(`tool ${who}`),
          ...(owner !== undefined && {
            target: isFirst(`target ${String(owner)}`),
            pair: isFirst(`pair ${who} ${String(owner)}`),
          }),
        },
      ]),
    );
  }

  #keysOf(limit: OracleLimit, call: OracleCall): readonly string[] {
    const place = limit.per === 'channel' ? call.channel : call.tool;
    const subjects = limit.per === 'requester' ? call.requesters : [place];
    return subjects.map((subject) => `${this.rules.limits.indexOf(limit)} ${subject}`);
  }

  /** Notes an approval with what it is worth at this moment. */
  approve(call: OracleCall, who: string, grants: boolean): Approval {
    const delegators = Object.keys(this.delegations).filter((from) => this.delegations[from]?.to === who);
    const names = Object.keys(this.rules.policies);
    // Where passkeys approve, what nobody signed is worth nothing.
    const signed = delegators.filter((from) => this.delegations[from]?.isSigned === true);
    const places = Object.fromEntries(
      names.map((name) => [
        name,
        this.placesOf(name, call, who, this.#policy(name).passkey ? signed : delegators),
      ]),
    );
    return { who, grants, delegators, places };
  }

  /** Lists the places of a policy that a person may fill now, in their own right or for somebody who has delegated to them. */
  placesOf(
    name: string,
    call: OracleCall,
    who: string,
    delegators: readonly string[] = [],
  ): readonly string[] {
    const policy = this.#policy(name);
    const own = this.#mayApprove(policy, call, who) ? [who] : [];
    const mayStandIn = policy.delegation && this.#mayApprove({ ...policy, selfApproval: false }, call, who);
    const others = mayStandIn ? delegators.filter((from) => this.#mayApprove(policy, call, from)) : [];
    return [...own, ...others].flatMap((person) =>
      policy.groups.flatMap(({ any, from }, group) =>
        this.#isIn(person, any) || (from && call.input.owner === emailOf(person))
          ? [`${person} ${group}`]
          : [],
      ),
    );
  }

  /** Tells whether a person may give an approval: active, of this workspace, not excluded, and nobody whose words led to the call. */
  #mayApprove(policy: OraclePolicy, call: OracleCall, person: string): boolean {
    if (!this.isActive(person) || this.#isIn(person, policy.excluded)) return false;
    if (call.requesters.includes(person)) return policy.selfApproval;
    return policy.separation === 'requesters' || !call.contextAuthors.includes(person);
  }

  #isIn(person: string, ids: readonly string[]): boolean {
    return ids.some((id) => id === person || this.members[id]?.includes(person) === true);
  }

  #policy(name: string): OraclePolicy {
    const policy = this.rules.policies[name];
    if (policy === undefined) throw new Error(`There is no policy ${name}`);
    return policy;
  }

  /** Tells whether approvals are enough under a policy: each place has an approval of its own, which counted when it was given and still does. */
  isEnough(
    name: string,
    call: OracleCall,
    approvals: readonly Approval[],
    { ownOnly = false } = {},
  ): boolean {
    const policy = this.#policy(name);
    const worth = approvals.map(({ who, delegators, places }) => {
      const now = this.placesOf(name, call, who, delegators);
      return (places[name] ?? []).filter(
        (place) => now.includes(place) && (!ownOnly || place.startsWith(`${who} `)),
      );
    });
    const needed = policy.groups.flatMap(({ quorum }, group) => new Array<number>(quorum).fill(group));
    const fill = (
      [group, ...rest]: readonly number[],
      left: readonly (readonly string[])[],
      taken: readonly string[],
    ): boolean =>
      group === undefined ||
      left.some((places, index) =>
        places.some((place) => {
          const [person = '', at] = place.split(' ');
          return (
            at === String(group) &&
            !taken.includes(person) &&
            fill(rest, left.toSpliced(index, 1), [...taken, person])
          );
        }),
      );
    return fill(needed, worth, []);
  }

  /** Tells whether all people together could approve a call under a policy. */
  canBeApproved(name: string, call: OracleCall): boolean {
    const people = Object.keys(this.standing).map((who) => ({
      ...this.approve(call, who, false),
      delegators: [],
    }));
    const isKnown = people.some(({ who }) => emailOf(who) === call.input.owner);
    const isNamed = isKnown || this.#policy(name).groups.every(({ from }) => !from);
    return isNamed && this.isEnough(name, call, people, { ownOnly: true });
  }

  /** Keeps the grant that a complete approval leaves, if all who were needed have signed it in their own right. */
  keepGrant(call: OracleCall, asked: readonly string[], approvals: readonly Approval[]): void {
    if (call.editedUnder !== undefined || this.over(call).length > 0) return;
    for (const policy of asked.filter((name) => this.#policy(name).grants !== undefined)) {
      const isOwn = ({ who, places }: Approval) =>
        places[policy]?.some((place) => place.startsWith(`${who} `));
      const signers = approvals.filter((approval) => approval.grants && isOwn(approval));
      // Of several policies the bot asks one alone if it is stricter than the others; which one, the promises do not say.
      if (asked.every((name) => this.isEnough(name, call, signers, { ownOnly: true })))
        this.#grants.push({ call, policy, signers, used: 0, isSure: asked.length === 1 });
    }
  }

  /** Finds a grant that a call may use: what it was signed for, for nobody else, by people who could approve this very call now. */
  grantFor(call: OracleCall, asked: readonly string[]): Grant | undefined {
    if (call.editedUnder !== undefined || this.over(call).length > 0) return undefined;
    return this.#grants.find(({ call: signed, policy, signers, used }) => {
      const terms = this.#policy(policy).grants;
      return (
        asked.includes(policy) &&
        terms !== undefined &&
        used < terms.uses &&
        (terms.scope === 'requester' || signed.thread === call.thread) &&
        call.requesters.every((person) => signed.requesters.includes(person)) &&
        call.contextAuthors.every((person) =>
          [...signed.requesters, ...signed.contextAuthors].includes(person),
        ) &&
        (terms.most === undefined ? isSame(signed.input, call.input) : isUpTo(terms.most, call.input)) &&
        (signed.input.owner === call.input.owner || this.#policy(policy).groups.every(({ from }) => !from)) &&
        signers.every(({ who }) => this.#mayApprove(this.#policy(policy), call, who)) &&
        asked.every((name) => this.isEnough(name, call, signers, { ownOnly: true }))
      );
    });
  }
}

const isSame = (left: object, right: object) => JSON.stringify(left) === JSON.stringify(right);
const isUpTo = (most: number, { amount }: OracleCall['input']) =>
  typeof amount === 'number' && amount <= most;

function amountOf({ sums }: OracleLimit, { input }: OracleCall): number | undefined {
  if (!sums) return 1;
  return typeof input.amount === 'number' && input.amount >= 0 ? input.amount : undefined;
}
