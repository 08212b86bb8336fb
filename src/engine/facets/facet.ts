import { z } from 'zod';
import type { JsonObject, JsonValue, PartialJson } from '../../agent/json.ts';
import type { CallPart, Interrupt } from '../../agent/messages.ts';
import type { InputWords } from '../../policy/condition.ts';
import type { Confirm, Policy, RiskLevel } from '../../policy/policy.ts';
import type { Reversible } from '../../policy/reversible.ts';
import type { NewRequest, RequestRecord } from '../../store/port/request-record.ts';
import type { Store } from '../../store/port/store.ts';
import type { Approval } from '../../tools/gate.ts';
import type { Toolbox, ToolEntry } from '../../tools/toolbox/toolbox.ts';
import type { WaitingAnswer } from '../../tools/waiting-answer.ts';
import type { InnerCall } from '../inner-calls.ts';
import type { ApprovedAs } from '../passkeys.ts';
import type { LimitShown, PlannedSteps } from '../planned-steps.ts';
import type { Voter } from '../ports.ts';
import type { PresentedCall } from '../presented.ts';
import type { ReadFile } from '../read-files.ts';
import type { Refusal } from '../reasons.ts';

/**
 * What one feature adds to a request: what the request keeps of it, what people approve with it, what the log has of it, and its check
 * before a start. `FACETS` lists all; the line on a card is in `src/bot/views/facets`. Each part may be missing.
 */
export interface Facet<Name extends string, Kept, Shown = never> {
  readonly name: Name;
  /** Parses what the request keeps. */
  readonly schema: z.ZodType<Kept>;
  /** Whether the card of a plan shows it at a step. */
  readonly isOfStep?: true;
  /** Makes what the request keeps; `undefined` if there is nothing to say. */
  prepare?(asked: AskedCall, ports: FacetPorts): Promise<Kept | undefined> | Kept | undefined;
  /** Returns its parts of the digest by name, as the log names them; a change of one makes an approval void. */
  digested?(kept: Kept | undefined, interrupt: Interrupt): DigestedParts;
  /** Returns its fields of the audit row `asked`. */
  auditFields?(asked: AskedCall, kept: Kept | undefined): JsonObject;
  /** Reads what a card shows that changes while the request waits, and is not kept with it. */
  readNow?(drawn: DrawnRequest<Kept>, ports: DrawingPorts): Promise<Shown | undefined> | Shown | undefined;
  /** Says why an approved call may not start now. */
  readonly check?: FacetCheck<Kept>;
}

/** Parts of a digest by name; one that is missing is `undefined`. */
export type DigestedParts = Readonly<Record<string, PartialJson | undefined>>;

/** One check of a facet before the start of an approved call; its code is one of the reasons, and its place is in `CHECKS`. */
export interface FacetCheck<Kept> {
  readonly code: Refusal['code'];
  /** Whether only the first start is checked. */
  readonly isOnlyFirst?: true;
  /** Tells whether it takes so long that a click leaves it to a worker. */
  isSlow?(kept: Kept | undefined): boolean;
  refuse(
    kept: Kept | undefined,
    run: StartingCall,
    ports: Pick<FacetPorts, 'store'>,
  ): Promise<Refusal | undefined>;
}

/** An approved call that is about to start. */
export interface StartingCall {
  readonly threadId: string;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly entry: ToolEntry | undefined;
  readonly input: JsonValue;
  readonly approvers: readonly Voter[];
  readonly approvedAs: ApprovedAs;
}

/** The origin of a request: its thread, its requesters, and the model's explanation. */
export interface RequestOrigin {
  readonly threadId: string;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly why: string;
  /** The files that the model read for the task. */
  readonly files: readonly ReadFile[];
  /** The action that the call takes back, if a person clicked Undo. */
  readonly undoes?: { readonly requestId: string; readonly title: string } | undefined;
  /** The link to the job of the caller that asks. */
  readonly link?: string | undefined;
}

/** A call about which people are asked, as its facets see it before the request is written. */
export interface AskedCall {
  readonly origin: RequestOrigin;
  readonly call: CallPart;
  readonly interrupt: Interrupt;
  /** The tool as it is now; `undefined` if it is gone. */
  readonly entry: ToolEntry | undefined;
  readonly input: JsonValue;
  /** The person who changed the arguments last. */
  readonly editor: string | undefined;
  /** The calls inside this one that wait, if it does not wait itself. */
  readonly inner: readonly InnerCall[] | undefined;
  /** The answer to its server or its tool that waits. */
  readonly answer: WaitingAnswer | undefined;
  /** Whether the call itself waits, and no part of it. */
  readonly isWhole: boolean;
  /** The terms of an approval; `undefined` if nobody votes. */
  readonly approval?: AskedApproval | undefined;
}

/** The approval that a call waits for, with what is known of it before the request is written. */
export interface AskedApproval {
  readonly pause: Approval & { readonly own: boolean };
  readonly policy: Policy;
  readonly risk: RiskLevel;
  readonly confirm: Confirm | undefined;
  readonly reversible: Reversible;
  /** The people who can approve now; `undefined` if nobody could tell, or the approval of a plan covers the call. */
  readonly approvers: readonly string[] | undefined;
  /** The part of the call in a plan. */
  readonly part: PlanPart | undefined;
}

/** The part of a call in a plan: the policy that covers all of its steps stands in place of its own. */
export interface PlanPart {
  readonly policy: string;
  /** Set for the plan itself. */
  readonly plan?: ProposedSteps;
}

/** A plan: its words and its risk, why people are asked, its steps, and the limits that they fit. */
export interface ProposedSteps {
  readonly presented: PresentedCall;
  readonly risk: RiskLevel;
  readonly because: string;
  readonly shown: PlannedSteps;
  readonly fits: LimitShown | undefined;
  readonly steps: NonNullable<NewRequest['steps']>;
}

/** The workspace as facets see it when a request is made. */
export interface FacetPorts {
  readonly store: Pick<Store, 'readDocument'>;
  /** Lists the status that people have set, by person; `undefined` if nobody has. */
  readonly statusesOf: (people: readonly string[]) => Promise<Readonly<Record<string, string>> | undefined>;
  readonly words: FacetWords;
}

/** The words that a request keeps. */
export interface FacetWords {
  /** Stands in place of an argument that is missing. */
  readonly none: string;
  readonly anyOf: (label: string) => string;
  readonly anyOther: string;
  /** Says why a call needs approval. */
  readonly whyAsked: (
    pause: Approval,
    asked: { readonly act: string; readonly inputs: InputWords },
  ) => string;
}

/** A request that is about to be drawn in one of its places. */
export interface DrawnRequest<Kept> {
  readonly request: RequestRecord;
  readonly tool: string;
  readonly policy: { readonly name?: string | undefined; readonly risk?: RiskLevel | undefined } | undefined;
  /** The people who could approve when the request was made; `undefined` if nobody could tell. */
  readonly approvers: readonly string[] | undefined;
  readonly kept: Kept | undefined;
  readonly view: { readonly isThread: boolean; readonly standsFor: string | undefined };
}

/** The workspace as facets see it when a card is drawn. */
export interface DrawingPorts {
  readonly store: Pick<
    Store,
    'listGrants' | 'readFreezes' | 'readThread' | 'load' | 'noteUndo' | 'readDocument'
  >;
  readonly toolbox: Pick<Toolbox, 'policy' | 'find' | 'read'>;
  /** Returns for how long after its success an action can be undone; `undefined` if it cannot, or not any more. */
  readonly undoOfferMs: (request: RequestRecord) => number | undefined;
}

/** The schema of a facet that keeps nothing: it is in the call, or is read when the card is drawn. */
export const NOTHING = z.never();
