import { z } from 'zod';
import type { RequestRecord } from '../store/port/request-record.ts';
import { CALLER_ACTION_TOOL, ExactAction, ReportWithin } from '../tools/toolbox/caller-action.ts';
import { actionDigest, type Receipt } from './receipt.ts';
import { type CallOnRecord, RunStatus, RunView } from './run-view.ts';

export const AskRequest = z
  .strictObject({
    ...ExactAction.shape,
    report_within: ReportWithin,
    explanation: RunExplanation(),
    link: z.url({ normalize: true }).max(500).optional().describe('As with a run.'),
    on_behalf_of: z.string().max(8_192).optional().describe('As with a run.'),
  })
  .refine(
    ({ command, files, diff }) => command !== undefined || files !== undefined || diff !== undefined,
    'Name what runs: "command", "files" or "diff"',
  )
  .meta({
    description:
      'Something that the caller runs itself once it is approved. Countersign cannot enforce the decision.',
    anyOf: [{ required: ['command'] }, { required: ['files'] }, { required: ['diff'] }],
  });
export type AskRequest = Readonly<z.infer<typeof AskRequest>>;

function RunExplanation() {
  return z.string().max(3_000).optional().describe('As with a run.');
}

export const AskStatus = z
  .enum([...RunStatus.options, 'approved'])
  .describe('approved: the caller may start it, once; running: it has, and has not reported yet.');
export type AskStatus = z.infer<typeof AskStatus>;

export const AskView = RunView.omit({ tool: true, input: true, edited_by: true, output: true })
  .extend({
    status: AskStatus,
    action: ExactAction,
    digest: z.hash('sha256').describe('SHA-256 of "action" as canonical JSON (RFC 8785).'),
    receipt: z.string().optional().describe('A JWT by the key of the audit log, once it is approved.'),
    start_by: z.iso.datetime().optional(),
    report_by: z.iso.datetime().optional(),
  })
  .describe('A request to run something elsewhere.');
export type AskView = z.infer<typeof AskView>;

/** Tells whether an ask still waits for people. */
export function isUndecided(status: AskStatus): boolean {
  return status === 'queued' || status === 'waiting';
}

/** An approved ask that the caller can start or has started. */
export interface OpenAsk {
  readonly request: RequestRecord;
  readonly approvedAt: number;
  readonly startBy: number;
  readonly reportWithinMs: number;
  readonly reportBy: number;
  readonly isStarted: boolean;
}

/** Returns the call as an ask's; `undefined` for a run. */
export function readAction({ call }: CallOnRecord): ExactAction | undefined {
  if (call.tool !== CALLER_ACTION_TOOL) return undefined;
  const { caller, report_within, ...action } = call.input;
  return ExactAction.safeParse(action).data;
}

/** Returns the times of an ask that is approved and not ended. */
export function openAsk({ call }: CallOnRecord, request: RequestRecord | undefined): OpenAsk | undefined {
  if (request?.state !== 'approved' && request?.state !== 'started') return undefined;
  const { decidedAt: approvedAt = request.createdAt, startedAt } = request;
  const reportWithinMs = 1_000 * (ReportWithin.safeParse(call.input.report_within).data ?? 0);
  const startBy = approvedAt + (request.policy.startWithinMs ?? 0);
  const isStarted = request.state === 'started';
  const reportBy = (isStarted ? (startedAt ?? startBy) : startBy) + reportWithinMs;
  return { request, approvedAt, startBy, reportWithinMs, reportBy, isStarted };
}

/** Describes an ask for its caller, from the view of its run. */
export function askViewOf(run: RunView, action: ExactAction, open: OpenAsk | undefined): AskView {
  const { tool, input, edited_by, output, ...rest } = run;
  const base = { ...rest, action, digest: actionDigest(action) };
  if (open === undefined) return base;
  return {
    ...base,
    status: open.isStarted ? 'running' : 'approved',
    start_by: new Date(open.startBy).toISOString(),
    report_by: new Date(open.reportBy).toISOString(),
  };
}

/** Builds the text of the receipt of an approved ask. */
export function receiptOf(caller: string, view: AskView, { approvedAt, startBy }: OpenAsk): Receipt {
  return {
    v: 1,
    ask: view.id,
    aud: caller,
    policy: view.action.policy,
    digest: view.digest,
    decision: 'approved',
    approvers: view.decisions.flatMap(({ by, decision }) => (decision === 'approve' ? [by] : [])),
    iat: Math.floor(approvedAt / 1_000),
    exp: Math.floor(startBy / 1_000),
  };
}
