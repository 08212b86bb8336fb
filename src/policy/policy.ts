import { canonicalJson, type JsonObject } from '../agent/json.ts';
import { compileExpression, type JudgedCall } from './condition.ts';
import type { QuietHours } from './time.ts';

/** The principal that means every member of the workspace who is neither a guest nor a bot. */
export const ANYONE = 'anyone';

/** A tool that only reads and finds the approver of a call, such as the manager of its requester. */
export interface ApproverLookup {
  readonly tool: string;
  /** Its input, with `{{input.name}}` of the call and `{{requester.email}}` in place of values. */
  readonly input: JsonObject;
  /** The address, or a list of them, with values of `{{output.name}}`. */
  readonly email: string;
}

/** People of whom as many as the quorum must approve. */
export interface ApproverGroup {
  /** Ids of people (`U…`) and user groups (`S…`). */
  readonly any: readonly string[];
  /** A CEL expression, or a tool, that gives the email address, or a list of them, of further approvers of a call. */
  readonly from: string | ApproverLookup | undefined;
  readonly quorum: number;
  /** The place of `any` in the manifest, as a JSON pointer from the policy. */
  readonly pointer: string;
}

/** The terms of a grant: how long, how often, where, and for which calls. */
export interface GrantRule {
  readonly forMs: number;
  readonly uses: number;
  readonly scope: 'thread' | 'requester';
  /** A CEL condition on the calls; without it, only the same arguments are meant. */
  readonly when: string | undefined;
}

/** The approvers of a request, how many of them must approve, and within what time. */
export interface Policy {
  readonly name: string;
  /** The ids of all groups: people (`U…`) and user groups (`S…`). */
  readonly approvers: readonly string[];
  /** Groups that must all approve; nobody counts for two of them. */
  readonly groups: readonly ApproverGroup[];
  /** People and user groups who may not approve whatever group they are in. */
  readonly excluded: readonly string[];
  /** CEL expressions that give further people of a call who may not approve it, such as its author; `undefined` for nobody. */
  readonly excludedFrom?: readonly string[] | undefined;
  /** The number of approvals: the sum of the groups. */
  readonly quorum: number;
  /** Whether one rejection decides; otherwise as many as the quorum. */
  readonly veto: boolean;
  readonly selfApproval: boolean;
  /** The people who may not approve: the requesters, or everyone whose words the model read in the task. */
  readonly separation: 'requesters' | 'thread';
  readonly expiresMs: number;
  /** The time after the last approval in which the action must start; after it, people are asked anew. */
  readonly startWithinMs: number;
  readonly remindMs: number | undefined;
  readonly escalate: { readonly afterMs: number; readonly to: readonly string[] } | undefined;
  /** Whether somebody may decide for an approver who has delegated to them; `undefined` if nobody may. */
  readonly delegation: true | undefined;
  /** Channels where the card is posted as well; their members are no approvers by that. */
  readonly announce: readonly string[];
  /** Whether each approver gets the card as a direct message. */
  readonly directMessages: boolean;
  /** No direct messages and no reminders then. */
  readonly quietHours: QuietHours | undefined;
  /** The limits of what one approver is asked, and may approve in an hour. */
  readonly load:
    | { readonly waiting: number | undefined; readonly approvalsPerHour: number | undefined }
    | undefined;
  /** After so many cards within a time, an approver gets one message that lists the others; `undefined` for a card of each. */
  readonly summary: { readonly after: number; readonly withinMs: number } | undefined;
  /** The confirmation that an approval takes, for all calls or by their risk; `undefined` leaves it to the risk of the call. */
  readonly confirm: Confirm | { readonly [Risk in RiskLevel]?: Confirm | undefined } | undefined;
  readonly risk: Risk;
  /** The time zone of `now` in the rules that name the policy, and in its risk. */
  readonly timeZone: string;
  /** The terms on which an approver may allow the same again; `undefined` if nobody may. */
  readonly grants: GrantRule | undefined;
  /** People and groups who may confirm the outcome of an action when it is unknown. */
  readonly resolvers: readonly string[];
}

/** Whether Approve asks once more, or the approver signs with a passkey. */
export type Confirm = boolean | 'passkey';

/** Returns how an approval of a call of this risk is confirmed; `undefined` if the policy does not say. */
export function confirmFor(confirm: Policy['confirm'], risk: RiskLevel): Confirm | undefined {
  return typeof confirm === 'object' ? confirm[risk] : confirm;
}

/** Tells whether some approvals of a policy are signed with a passkey. */
export function isSigned({ confirm }: Pick<Policy, 'confirm'>): boolean {
  return RISK_LEVELS.some((risk) => confirmFor(confirm, risk) === 'passkey');
}

export const DEFAULT_POLICY_NAME = 'default';

/** Finds a policy by its name; `undefined` if it is gone, and then nobody can approve under it. */
export type PolicyOf = (name: string) => Policy | undefined;

// No name in a manifest holds these characters.
const AND = ' + ';

/** Lists the policies of the manifest that a name stands for: itself, or those that must all be satisfied. */
export function policiesNamed(name: string): readonly string[] {
  return name.split(AND);
}

/** Names several policies that must all be satisfied. */
export function allPolicies(names: readonly string[]): string {
  return [...new Set(names.flatMap(policiesNamed))].join(AND);
}

/** Finds a policy by its name; several names joined give the policy that asks for everything that each of them asks for. */
export function findPolicy(policyOf: PolicyOf, name: string): Policy | undefined {
  const [first, ...others] = policiesNamed(name).map(policyOf);
  return others.reduce((joined, other) => joined && other && joinPolicies(joined, other), first);
}

/**
 * Returns the name of the policy that is at least as strict as each of those that are named: one of them if it is, otherwise all of them
 * joined. Between equals the first counts. A policy that is gone is the strictest, because nobody can approve under it.
 */
export function strictestPolicy(names: readonly string[], policyOf: PolicyOf): string {
  const distinct = [...new Set(names.flatMap(policiesNamed))];
  const known: Policy[] = [];
  for (const name of distinct) {
    const policy = policyOf(name);
    if (policy === undefined) return name;
    known.push(policy);
  }
  const needed = distinct.filter((_, index) => !isCoveredByOther(known, index));
  return allPolicies(needed);
}

function isCoveredByOther(policies: readonly Policy[], index: number): boolean {
  const own = policies[index];
  return policies.some(
    (other, at) =>
      own !== undefined && at !== index && covers(other, own) && (at < index || !covers(own, other)),
  );
}

/** Tells whether approvals that are enough under the first policy are enough under the other as well, whoever gives them. */
export function covers(policy: Policy, other: Policy): boolean {
  return canonicalJson(authorityOf(joinPolicies(policy, other))) === canonicalJson(authorityOf(policy));
}

/** The parts of a policy that decide whose approvals are enough. */
function authorityOf(policy: Policy) {
  const { groups, excluded, excludedFrom = [], ...others } = policy;
  const { selfApproval, separation, veto, delegation, escalate, confirm } = others;
  return {
    passkey: RISK_LEVELS.filter((risk) => confirmFor(confirm, risk) === 'passkey'),
    groups: groups
      .map(({ any, from, quorum }) => canonicalJson({ any: [...any].sort(), from: keyOf(from), quorum }))
      .sort(),
    excluded: [...excluded].sort(),
    excludedFrom: [...excludedFrom].sort(),
    selfApproval,
    separation,
    veto,
    delegation: delegation === true,
    escalate: escalate === undefined ? null : { ...escalate, to: [...escalate.to].sort() },
  };
}

/** Joins two policies: the groups of both, as far as a group of the other is not as strict, and the stricter of everything else. */
function joinPolicies(one: Policy, other: Policy): Policy {
  const groups = joinGroups(one.groups, other.groups);
  return {
    name: `${one.name}${AND}${other.name}`,
    approvers: union(one.approvers, other.approvers),
    groups,
    excluded: union(one.excluded, other.excluded),
    excludedFrom: joinSources(one.excludedFrom, other.excludedFrom),
    quorum: groups.reduce((sum, { quorum }) => sum + quorum, 0),
    veto: one.veto || other.veto,
    selfApproval: one.selfApproval && other.selfApproval,
    separation: one.separation === 'thread' ? 'thread' : other.separation,
    expiresMs: Math.min(one.expiresMs, other.expiresMs),
    startWithinMs: Math.min(one.startWithinMs, other.startWithinMs),
    remindMs: least(one.remindMs, other.remindMs),
    escalate: joinEscalations(one.escalate, other.escalate),
    delegation: one.delegation && other.delegation,
    announce: union(one.announce, other.announce),
    directMessages: one.directMessages || other.directMessages,
    quietHours: undefined,
    load: {
      waiting: least(one.load?.waiting, other.load?.waiting),
      approvalsPerHour: least(one.load?.approvalsPerHour, other.load?.approvalsPerHour),
    },
    summary: undefined,
    confirm: joinConfirms(one.confirm, other.confirm),
    risk: higherRisk(one.risk, other.risk),
    timeZone: one.timeZone,
    grants: undefined,
    resolvers: union(one.resolvers, other.resolvers),
  };
}

/** Takes the stricter confirmation, for each risk if either depends on it. */
function joinConfirms(one: Policy['confirm'], other: Policy['confirm']): Policy['confirm'] {
  const stricter = (risk: RiskLevel): Confirm | undefined => {
    const both = [confirmFor(one, risk), confirmFor(other, risk)];
    const order: readonly Confirm[] = ['passkey', true, false];
    return order.find((confirm) => both.includes(confirm));
  };
  if (typeof one !== 'object' && typeof other !== 'object') return stricter('high');
  return Object.fromEntries(
    RISK_LEVELS.flatMap((risk) => {
      const confirm = stricter(risk);
      return confirm === undefined ? [] : [[risk, confirm] as const];
    }),
  );
}

/** Keeps of two groups the one that is at least as strict, and both where neither is. Each group stands for one of the other policy only. */
function joinGroups(
  groups: readonly ApproverGroup[],
  others: readonly ApproverGroup[],
): readonly ApproverGroup[] {
  const free = [...groups];
  const joined: ApproverGroup[] = [];
  const unmatched: ApproverGroup[] = [];
  for (const other of others) {
    const index = free.findIndex((group) => isStricter(group, other) || isStricter(other, group));
    const [group] = index === -1 ? [] : free.splice(index, 1);
    if (group === undefined) unmatched.push(other);
    else joined.push(isStricter(group, other) ? group : other);
  }
  return [...joined, ...free, ...unmatched];
}

/** Tells whether people who fill the first group fill the other as well. */
function isStricter(group: ApproverGroup, other: ApproverGroup): boolean {
  const isFrom = group.from === undefined || keyOf(group.from) === keyOf(other.from);
  return isFrom && group.quorum >= other.quorum && group.any.every((id) => other.any.includes(id));
}

/** Returns a text that is the same for the same source of approvers. */
function keyOf(from: ApproverGroup['from']): string | undefined {
  return typeof from === 'object' ? canonicalJson({ ...from }) : from;
}

/** Names the people whom a call or a tool gives, for admins. */
export function sourceInWords(from: NonNullable<ApproverGroup['from']>): string {
  return typeof from === 'string' ? `the person of ${from}` : `the person whom ${from.tool} finds`;
}

/** Lists those who may not approve, for admins. */
export function excludedInWords({
  excluded,
  excludedFrom = [],
}: Pick<Policy, 'excluded' | 'excludedFrom'>): readonly string[] {
  return [...excluded, ...excludedFrom.map(sourceInWords)];
}

/** Tells whether a person may not approve a call because their words led to it. */
export function isSeparated(
  { selfApproval, separation }: Pick<Policy, 'selfApproval' | 'separation'>,
  { requesters, contextAuthors }: Pick<JudgedCall, 'requesters' | 'contextAuthors'>,
  person: string,
): boolean {
  if (requesters.includes(person)) return !selfApproval;
  return separation === 'thread' && contextAuthors.includes(person);
}

/** Lets only those be asked as well whom both policies ask, and not before both do. */
function joinEscalations(one: Policy['escalate'], other: Policy['escalate']): Policy['escalate'] {
  const to = one?.to.filter((id) => other?.to.includes(id)) ?? [];
  if (one === undefined || other === undefined || to.length === 0) return undefined;
  return { afterMs: Math.max(one.afterMs, other.afterMs), to };
}

function higherRisk(one: Risk, other: Risk): Risk {
  const order: readonly RiskLevel[] = ['high', 'medium', 'low'];
  if (typeof one === 'string' && typeof other === 'string')
    return order.find((level) => level === one || level === other) ?? 'high';
  // Two expressions cannot be joined; what cannot be decided counts as high.
  return canonicalJson({ risk: one }) === canonicalJson({ risk: other }) ? one : 'high';
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function joinSources(one: Policy['excludedFrom'], other: Policy['excludedFrom']): Policy['excludedFrom'] {
  return one === undefined || other === undefined ? (one ?? other) : union(one, other);
}

function union(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...new Set([...one, ...other])];
}

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

export const RISK_LEVELS = ['low', 'medium', 'high'] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** The risk of the calls under a policy: one level, or a CEL expression that gives the level of each call. */
type Risk = RiskLevel | { readonly expression: string };

export function isRiskLevel(value: unknown): value is RiskLevel {
  return RISK_LEVELS.some((level) => level === value);
}

/** Parses a risk as the manifest writes it. */
export function toRisk(written: string): Risk {
  return isRiskLevel(written) ? written : { expression: written };
}

export function mayBeHigh(risk: Risk): boolean {
  return risk === 'high' || typeof risk === 'object';
}

const compiled = new Map<string, ReturnType<typeof compileExpression>>();

/**
 * Returns the risk of a call. An expression is evaluated for each requester, and the highest result counts; one that cannot be
 * evaluated, or gives no level, means high.
 */
export function riskOf(risk: Risk, { requesters, ...call }: JudgedCall): RiskLevel {
  if (typeof risk === 'string') return risk;
  const evaluate = compiled.get(risk.expression) ?? compileExpression(risk.expression);
  compiled.set(risk.expression, evaluate);
  const levels = (requesters.length === 0 ? [''] : requesters).map((requester) => {
    const result = evaluate({ ...call, requesters, requester });
    return 'value' in result && isRiskLevel(result.value) ? result.value : 'high';
  });
  return RISK_LEVELS.findLast((level) => levels.includes(level)) ?? 'high';
}
