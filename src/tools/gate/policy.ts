import type { QuietHours } from './quiet-hours.ts';
import type { Risk } from './risk.ts';

/** People of whom as many as the quorum must approve. */
export interface ApproverGroup {
  /** Ids of people (`U…`) and user groups (`S…`). */
  readonly any: readonly string[];
  /** A CEL expression that gives the email address, or a list of them, of further approvers of a call. */
  readonly from: string | undefined;
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
  readonly digest: { readonly after: number; readonly withinMs: number } | undefined;
  /** Whether Approve asks for a confirmation; `undefined` leaves it to the risk of the call. */
  readonly confirm: boolean | undefined;
  readonly risk: Risk;
  /** The time zone of `now` in the rules that name the policy, and in its risk. */
  readonly timeZone: string;
  /** The terms on which an approver may allow the same again; `undefined` if nobody may. */
  readonly grants: GrantRule | undefined;
  /** People and groups who may confirm the outcome of an action when it is unknown. */
  readonly resolvers: readonly string[];
}
