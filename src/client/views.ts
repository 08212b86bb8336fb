/** A JSON value as it is sent and read. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The states of a run. Another one may be added: treat a state that you do not know as one that goes on. */
export type RunStatus =
  | 'queued'
  | 'waiting'
  | 'running'
  | 'unknown'
  | 'succeeded'
  | 'failed'
  | 'denied'
  | 'rejected'
  | 'expired'
  | 'withdrawn';
export type AskStatus = RunStatus | 'approved';

/** A call of a tool to ask for. */
export interface RunRequest {
  readonly tool: string;
  readonly input?: { readonly [key: string]: Json };
  /** Why, in the words of the caller. A plan says it in its goal. */
  readonly explanation?: string;
  /** An https link to the job, at one of the `links` hosts of the caller. */
  readonly link?: string;
  /** A token of the person for whom the caller asks. */
  readonly on_behalf_of?: string;
}

/** Several calls to ask for at once; they run in this order, and the first that does not run stops the rest. */
export interface Plan {
  readonly goal: string;
  readonly steps: readonly { readonly tool: string; readonly input: { readonly [key: string]: Json } }[];
}

/** One vote. */
export interface Decision {
  /** The id of the person in Slack. */
  readonly by: string;
  readonly decision: 'approve' | 'reject';
  readonly at: string;
}

/** A step of a plan. */
export interface RunStep {
  readonly tool: string;
  readonly input: Json;
  readonly status: RunStatus;
  readonly output?: Json | undefined;
  readonly reason?: string | undefined;
}

interface Common {
  readonly id: string;
  /** Why it did not run or does not go on, or the words of who rejected it. */
  readonly reason?: string | undefined;
  readonly images?: readonly { readonly type: string; readonly data: string }[] | undefined;
  readonly steps?: readonly RunStep[] | undefined;
  readonly decisions: readonly Decision[];
  readonly waiting_for?:
    | {
        readonly question?: string | undefined;
        readonly choices?: readonly string[] | undefined;
        readonly people: readonly string[];
      }
    | undefined;
  readonly expires_at?: string | undefined;
  /** The words of people below the card. It is data, and no instruction. */
  readonly context: readonly { readonly by: string; readonly text: string }[];
}

/** A request to run a tool. */
export interface Run extends Common {
  readonly status: RunStatus;
  readonly tool: string;
  /** The input that runs or ran: as it was sent, or as somebody edited it. */
  readonly input: Json;
  readonly edited_by?: string | undefined;
  readonly output?: Json | undefined;
}

/** Exactly what a caller wants to run itself: a command, files or a diff. */
export interface Action {
  readonly policy: string;
  readonly title: string;
  readonly command?: string | undefined;
  readonly directory?: string | undefined;
  readonly files?:
    | readonly { readonly path: string; readonly size?: number | undefined; readonly sha256: string }[]
    | undefined;
  readonly diff?: string | undefined;
  /** The job and its attempt. */
  readonly run?: string | undefined;
}

/** Something that the caller runs itself once it is approved. */
export interface AskRequest extends Action {
  /** The seconds after its start in which the caller reports the outcome. */
  readonly report_within?: number;
  readonly explanation?: string;
  readonly link?: string;
  readonly on_behalf_of?: string;
}

/** A request to run something elsewhere. */
export interface Ask extends Common {
  readonly status: AskStatus;
  readonly action: Action;
  /** SHA-256 of `action` as canonical JSON (RFC 8785). */
  readonly digest: string;
  readonly receipt?: string | undefined;
  readonly start_by?: string | undefined;
  readonly report_by?: string | undefined;
}

/** The outcome of what the caller ran itself. */
export interface Report {
  /** `failed`: it is known that it did not happen; `unknown`: people are asked. */
  readonly outcome: 'succeeded' | 'failed' | 'unknown';
  readonly exit_code?: number;
  readonly summary?: string;
}

/** A tool that the caller may call. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: { readonly [key: string]: unknown };
  readonly output_schema?: { readonly [key: string]: unknown } | undefined;
  readonly effect: 'none' | 'idempotent' | 'once';
}

/** The claims about what people approved that a receipt signs. */
export interface Receipt {
  readonly v: 1;
  readonly ask: string;
  readonly aud: string;
  readonly policy: string;
  readonly digest: string;
  readonly decision: 'approved';
  readonly approvers: readonly string[];
  readonly iat: number;
  readonly exp: number;
}

/** A message of a webhook. A type may be added: ignore one that you do not know. */
export type WebhookMessage =
  | { readonly v: 1; readonly type: 'run.updated'; readonly timestamp: string; readonly data: Run }
  | { readonly v: 1; readonly type: 'ask.updated'; readonly timestamp: string; readonly data: Ask };

const ENDED: ReadonlySet<string> = new Set([
  'succeeded',
  'failed',
  'denied',
  'rejected',
  'expired',
  'withdrawn',
]);

/** Tells whether a state is the last one. One that this version does not know is not. */
export function isEnded(status: AskStatus): boolean {
  return ENDED.has(status);
}

/** Tells whether an ask still waits for people. */
export function isUndecided(status: AskStatus): boolean {
  return status === 'queued' || status === 'waiting';
}

/** Tells an answer about a run from any other. */
export function isRun(answer: object): answer is Run {
  return hasState(answer) && 'tool' in answer && typeof answer.tool === 'string';
}

/** Tells an answer about an ask from any other. */
export function isAsk(answer: object): answer is Ask {
  return hasState(answer) && 'digest' in answer && typeof answer.digest === 'string' && 'action' in answer;
}

/** Tells a list of tools from any other answer. */
export function isListOfTools(answer: object): answer is { readonly tools: readonly ListedTool[] } {
  return 'tools' in answer && Array.isArray(answer.tools);
}

function hasState(answer: object): boolean {
  const { id, status, decisions }: Record<string, unknown> = { ...answer };
  return typeof id === 'string' && typeof status === 'string' && Array.isArray(decisions);
}
