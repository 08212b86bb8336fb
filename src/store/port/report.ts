import type { Work } from './work.ts';

/** The part of a request that logs, metrics and traces name. It holds no content. */
export interface RequestFacts {
  readonly requestId: string;
  readonly threadId: string;
  readonly kind: string;
  readonly tool: string;
  readonly policy: string;
  readonly requester: string;
  readonly createdAt: number;
  readonly decidedAt: number | undefined;
  readonly trace: string | undefined;
}

/** A row that was added to the audit log, without its body. */
export interface RecordEvent {
  readonly event: string;
  readonly subject: string;
  readonly detail: string;
  /** By Redis's clock. */
  readonly at: number;
  /** Present if the subject is a request. */
  readonly request?: RequestFacts;
}

/** The part of a reply that is the same for every change: the rows of the audit log, and the work that is now due. */
export interface Report {
  readonly events: readonly RecordEvent[];
  readonly due: readonly { readonly work: Work; readonly delayMs: number }[];
}
