/** The shapes that the page's server sends to its browser part. Texts are plain text: the browser never parses markup. */

import type { JsonObject } from '../agent/json.ts';

export interface Me {
  readonly who: string;
  readonly name: string;
  /** Whether the person sees every request and the log. */
  readonly seesAll: boolean;
}

/** Names of people, user groups and channels, by id; an id without a name is missing. */
export type Names = Readonly<Record<string, string>>;

export interface ListItem {
  readonly id: string;
  readonly title: string;
  readonly tool: string;
  readonly state: string;
  /** The state in words. */
  readonly word: string;
  readonly requesters: readonly string[];
  /** The channel, if it is one that has a name. */
  readonly channel?: string | undefined;
  readonly votes: readonly ListedVote[];
  /** The approvals that it has, and those that it needs; missing where nobody approves. */
  readonly approvals?: { readonly given: number; readonly needed: number } | undefined;
  readonly askedAt: number;
  readonly decidedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly isHighRisk?: boolean | undefined;
}

export interface ListedVote {
  readonly who: string;
  readonly decision: string;
}

export interface Waiting {
  readonly items: readonly ListItem[];
  readonly names: Names;
  /** The start of the next page. */
  readonly next?: string | undefined;
}

export interface History {
  readonly items: readonly ListItem[];
  readonly names: Names;
  readonly total: number;
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  /** People whose names Slack has not told in time, so that a search by name does not find them. */
  readonly unnamed: number;
  readonly states: readonly { readonly state: string; readonly word: string }[];
}

/** A label with a text. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  /** Whether ids in the text are people, groups and channels, to be shown by name; in words of somebody else an id is just a word. */
  readonly hasIds?: true;
  /** A time in place of the text, which each reader sees in their own time zone. */
  readonly at?: number;
}

/** A row of the audit log. */
export interface LogRow {
  readonly v: number;
  readonly seq: number;
  readonly at: number;
  readonly event: string;
  readonly subject: string;
  readonly detail: string;
  readonly body: string;
  readonly hash: string;
}

export interface RequestView {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly word: string;
  /** False for one that was removed after its time; then the log alone tells of it. */
  readonly isKept: boolean;
  readonly isHighRisk: boolean;
  readonly requesters: readonly string[];
  readonly channel?: string | undefined;
  readonly askedAt: number;
  readonly expiresAt?: number | undefined;
  /** The call in the words of its card. */
  readonly fields: readonly Fact[];
  /** Whether the fields tell everything, so that the exact arguments need not be read as well. */
  readonly isComplete: boolean;
  /** What people decide by: who may, why they are asked, and what follows. */
  readonly terms: readonly Fact[];
  /** Whole texts for everybody: previews, a question, the outcome. */
  readonly texts: readonly Fact[];
  /** Whole texts for who wants to know exactly: the arguments, explanations, files. */
  readonly raw: readonly Fact[];
  readonly facts: readonly Fact[];
  readonly votes: readonly {
    readonly who: string;
    readonly decision: string;
    readonly at: number;
    readonly standsFor?: string | undefined;
    readonly reason?: string | undefined;
  }[];
  /** The steps of the rules as they are now, a line each. */
  readonly rules: readonly string[];
  readonly rows: readonly LogRow[];
  readonly names: Names;
  readonly slackLink?: string | undefined;
}

/** One part of the log, with what proves it. The checkpoints come with the first part. */
export interface LogPart {
  /** The first row that is still there continues this one. */
  readonly base: { readonly seq: number; readonly hash: string };
  readonly head: { readonly seq: number; readonly hash: string };
  readonly rows: readonly LogRow[];
  /** The number after which the next part begins; missing at the end. */
  readonly next?: number | undefined;
  /** Each as its signed text and the hash that is stored beside it. */
  readonly checkpoints?:
    | readonly { readonly n: number; readonly hash: string; readonly text: string }[]
    | undefined;
  /** The public keys as PEM; empty if nothing is signed. */
  readonly publicKeys?: string | undefined;
}

export interface Figure {
  readonly policy: string;
  readonly rule: string;
  /** The reason for which the rule asks, in words. */
  readonly because: string;
  readonly requests: number;
  /** Those that people approved or rejected. */
  readonly decided: number;
  readonly approved: number;
  readonly rejected: number;
  readonly expired: number;
  readonly waiting: number;
  /** Of those that people decided; missing if nobody decided one. */
  readonly approvalRate?: number | undefined;
  readonly medianSeconds?: number | undefined;
  readonly p90Seconds?: number | undefined;
  /** The share decided in less than three seconds. */
  readonly quickShare?: number | undefined;
  /** The requests by the word for their state now. */
  readonly outcomes: Readonly<Record<string, number>>;
}

export interface ApproverLoad {
  readonly who: string;
  readonly approved: number;
  readonly rejected: number;
  readonly medianSeconds?: number | undefined;
}

export interface Figures {
  readonly days: number | undefined;
  readonly requests: number;
  readonly rules: readonly Figure[];
  readonly approvers: readonly ApproverLoad[];
  readonly names: Names;
}

export interface ManifestView {
  readonly digest: string;
  /** As it is written in its file. */
  readonly text: string;
  readonly isGoverned: boolean;
  /** The request by which people approved it, if they had to. */
  readonly approval?:
    | { readonly id: string; readonly title: string; readonly by: readonly string[] }
    | undefined;
  readonly tools: readonly string[];
  readonly names: Names;
}

export interface Explained {
  /** Who would call. */
  readonly as: string;
  readonly lines: readonly string[];
  readonly names: Names;
}

/** A passkey of the person. */
export interface PasskeyItem {
  readonly credential: string;
  readonly name: string;
  /** By which the person and an admin tell that they mean the same one. */
  readonly code: string;
  readonly addedAt: number;
  readonly isConfirmed: boolean;
  /** Whether it counts, in words. */
  readonly counts: string;
  /** The time from which it counts by itself. */
  readonly countsFrom?: number | undefined;
}

export interface Passkeys {
  readonly keys: readonly PasskeyItem[];
  /** Whether the person signed in so lately that they can add one. */
  readonly isFresh: boolean;
}

/** An approval that waits for the person's passkey; without a request it is a delegation. */
export interface Approval {
  readonly request?: RequestView | undefined;
  /** The extent of the approval or the delegation, in words. */
  readonly covers: readonly Fact[];
  /** The digest of what runs; a delegation has none. */
  readonly digest?: Fact;
  /** The terms that are signed, by their digest. */
  readonly terms: JsonObject;
  readonly challenge: string;
  readonly rpId: string;
  readonly keys: readonly { readonly id: string; readonly transports: readonly string[] }[];
}

/** The sentence that follows an approval. */
export interface Approved {
  readonly isApproved: boolean;
  readonly text: string;
}

export interface Refusal {
  readonly ok: false;
  readonly error: string;
}
