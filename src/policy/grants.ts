import { hash } from 'node:crypto';
import { canonicalJson, toJson } from '../agent/json.ts';
import { compileCondition, type JudgedCall } from './condition.ts';
import { fillGroups, type GroupMember, type Policy, riskOf } from './policy.ts';

/** People and user groups of whom as many as the quorum must approve, with those that the call names. */
export interface ResolvedGroup {
  readonly any: readonly string[];
  readonly quorum: number;
}

/** The terms that a grant was signed on. */
export interface GrantTerms {
  readonly threadId: string;
  readonly scope: 'thread' | 'requester';
  readonly tool: string;
  /** The digest of the tool's definition. */
  readonly definition: string;
  readonly policy: string;
  readonly policyDigest: string;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  /** The approver groups of the call that was approved. */
  readonly groups: readonly ResolvedGroup[];
  /** The digest of the arguments that were approved. */
  readonly input: string;
  readonly when?: string | undefined;
}

/** A call with what a grant compares: its tool and its policy as they are now, and who would be asked to approve it. */
export interface GrantedCall {
  readonly call: JudgedCall & { readonly threadId: string };
  readonly definition: string;
  readonly policy: Policy;
  readonly policyDigest: string;
  readonly groups: readonly ResolvedGroup[];
}

/**
 * Tells whether a grant is for a call: the same tool, policy and approvers as when it was signed, nobody whom it was not signed for, and
 * arguments that it means. Whether the people who signed it still may is asked in Slack.
 */
export function coversCall(
  grant: GrantTerms,
  { call, definition, policy, policyDigest, groups }: GrantedCall,
): boolean {
  const { tool, requesters, contextAuthors, threadId } = call;
  const everyone = [...grant.requesters, ...grant.contextAuthors];
  const timed = { ...call, timeZone: policy.timeZone };
  return (
    policy.grants !== undefined &&
    grant.tool === tool &&
    grant.policy === policy.name &&
    grant.definition === definition &&
    grant.policyDigest === policyDigest &&
    (grant.scope === 'requester' || grant.threadId === threadId) &&
    requesters.length > 0 &&
    requesters.every((person) => grant.requesters.includes(person)) &&
    contextAuthors.every((person) => everyone.includes(person)) &&
    groupsKey(grant.groups) === groupsKey(groups) &&
    riskOf(policy.risk, timed) !== 'high' &&
    isMeant(grant, timed)
  );
}

/** Tells whether the people who signed a grant still fill the groups of its policy. */
export function fillAllGroups(groups: readonly ResolvedGroup[], signers: readonly GroupMember[]): boolean {
  const quorums = groups.map(({ quorum }) => quorum);
  return fillGroups(quorums, signers).every((people, index) => people.length === quorums[index]);
}

/** Returns the digest of the arguments of a call. */
export function inputDigest(input: unknown): string {
  return hash('sha256', canonicalJson(toJson(input)));
}

/** Without a condition only the same arguments are meant. One that cannot be evaluated means none. */
function isMeant({ when, input }: GrantTerms, call: JudgedCall): boolean {
  if (when === undefined) return inputDigest(call.input) === input;
  return call.requesters.every((requester) => compileCondition(when)({ ...call, requester }) === true);
}

function groupsKey(groups: readonly ResolvedGroup[]): string {
  return canonicalJson(groups.map(({ any, quorum }) => ({ any: [...any].sort(), quorum })));
}
