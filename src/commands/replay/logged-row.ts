import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { z } from 'zod';
import { canonicalJson, type JsonValue, tryParseJson } from '../../agent/json.ts';
import { parseLine, readLines } from '../../audit/export-line.ts';
import { parseThreadId } from '../../bot/slack/thread.ts';
import type { AuditRow } from '../../store/port/audit.ts';
import { POLICY_CHANGE_TOOL } from '../../tools/toolbox/policy-change.ts';
import { Failure } from '../shared/command.ts';

const REDACTED = '[redacted]';

const People = z.array(z.string());
const Called = z.object({
  tool: z.string(),
  arguments: z.custom<JsonValue>((value) => value !== undefined).optional(),
  requesters: People,
  context_authors: People.default([]),
});

const AskedPolicy = z.object({
  principals: People,
  quorum: z.number(),
  selfApproval: z.boolean().default(false),
  groups: z.array(z.object({ any: People, quorum: z.number() })).optional(),
  excluded: People.default([]),
});
/** The approvers of a request as they were recorded with it. */
export type AskedPolicy = Readonly<z.infer<typeof AskedPolicy>>;

const Asked = Called.extend({ rule: z.string(), policy_name: z.string(), policy: AskedPolicy });
const Effect = Called.extend({ ref: z.string(), granted: z.object({ grant: z.string() }).optional() });

/** The outcome of a call when it was made: people were asked, it ran without approval, or it was denied. */
export type Before =
  | {
      readonly outcome: 'asked';
      readonly rule: string;
      readonly policyName: string;
      readonly policy: AskedPolicy;
    }
  | { readonly outcome: 'ran'; readonly isGranted: boolean }
  | { readonly outcome: 'denied' };

/** One call of the audit log. */
export interface LoggedCall {
  readonly at: number;
  /** The request, or the thread of a call that nobody was asked about. */
  readonly subject: string;
  /** Names the call among those that limits count. */
  readonly action: string;
  /** The thread, the tool and the arguments: a request and the rows of its later runs share nothing else. */
  readonly identity: string;
  readonly tool: string;
  /** The arguments; `undefined` if the log does not have them as they were. */
  readonly input: JsonValue | undefined;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly channel: string;
  readonly before: Before;
}

/** A row as a replay sees it: a call, a step of a request, the end of a call that nobody was asked about, or a call that cannot be read. */
type LoggedRow =
  | { readonly kind: 'call'; readonly call: LoggedCall }
  | { readonly kind: 'step'; readonly step: RequestStep; readonly subject: string }
  | { readonly kind: 'effect-end'; readonly end: 'failed' | 'paused'; readonly call: LoggedCall }
  | { readonly kind: 'unreadable' };

/** A step of a request: its decision, its start, or its end. */
export type RequestStep =
  | 'approved'
  | 'rejected'
  | 'expired'
  | 'started'
  | 'paused'
  | 'without-effect'
  | 'ended';

const CALLS: readonly string[] = ['asked', 'effect-started', 'denied'];
const STEPS: Readonly<Record<string, RequestStep>> = {
  approved: 'approved',
  rejected: 'rejected',
  expired: 'expired',
  started: 'started',
  paused: 'paused',
  failed: 'without-effect',
  succeeded: 'ended',
  withdrawn: 'ended',
  superseded: 'ended',
  abandoned: 'ended',
  resolved: 'ended',
};
const EFFECT_ENDS: Readonly<Record<string, 'failed' | 'paused'>> = {
  'effect-failed': 'failed',
  'effect-paused': 'paused',
};

/** Tells whether each row of an event is one call; of a request, the question. */
export function isCall(event: string): boolean {
  return CALLS.includes(event);
}

/** Parses a row of the audit log; `undefined` if a replay does not need it. */
export function parseRow(row: AuditRow): LoggedRow | undefined {
  const { event, subject, detail } = row;
  switch (event) {
    case 'asked':
      return detail === 'approval' ? askedCall(row) : undefined;
    case 'effect-started':
      // Another try of the same call is no new call.
      return detail.startsWith('try 1 ') ? unsignedCall(row) : undefined;
    case 'denied':
      return deniedCall(row);
  }
  const effectEnd = EFFECT_ENDS[event];
  if (effectEnd !== undefined) {
    const started = unsignedCall(row);
    return started.kind === 'call' ? { kind: 'effect-end', end: effectEnd, call: started.call } : undefined;
  }
  const step = STEPS[event];
  if (step === undefined) return undefined;
  if (event === 'resolved' && detail.startsWith('run-again ')) return undefined;
  if (event === 'resolved' && detail.startsWith('did-not-run '))
    return { kind: 'step', step: 'without-effect', subject };
  return { kind: 'step', step, subject };
}

function askedCall(row: AuditRow): LoggedRow | undefined {
  const { data } = Asked.safeParse(tryParseJson(row.body));
  if (data === undefined) return { kind: 'unreadable' };
  // A change of the manifest is no call of one of its tools.
  if (data.tool === POLICY_CHANGE_TOOL) return undefined;
  const { rule, policy_name: policyName, policy } = data;
  return toCall(row, data, { outcome: 'asked', rule, policyName, policy }, row.subject);
}

function unsignedCall(row: AuditRow): LoggedRow {
  const { data } = Effect.safeParse(tryParseJson(row.body));
  if (data === undefined) return { kind: 'unreadable' };
  const before = { outcome: 'ran', isGranted: data.granted !== undefined } as const;
  return toCall(row, data, before, `${row.subject}/${data.ref}`);
}

function deniedCall(row: AuditRow): LoggedRow {
  const { data } = Called.safeParse(tryParseJson(row.body));
  if (data === undefined) return { kind: 'unreadable' };
  return toCall(row, data, { outcome: 'denied' }, String(row.seq));
}

function toCall(
  { at, subject }: AuditRow,
  { tool, requesters, context_authors: contextAuthors, ...body }: z.infer<typeof Called>,
  before: Before,
  action: string,
): LoggedRow {
  const isKnown = body.arguments !== undefined && !JSON.stringify(body.arguments).includes(REDACTED);
  return {
    kind: 'call',
    call: {
      ...{ at, subject, action, tool, requesters, contextAuthors, before },
      identity: canonicalJson([threadOf(subject), tool, body.arguments ?? null]),
      input: isKnown ? body.arguments : undefined,
      channel: parseThreadId(threadOf(subject)).channel,
    },
  };
}

/** A request's id begins with its thread's. */
function threadOf(subject: string): string {
  return subject.split('~')[0] ?? '';
}

/** Yields the rows of an export, each once, and tells of each row whose contents were erased. Any other file is a `Failure`. */
export async function* readExport(
  file: string,
  onErased: (row: Pick<AuditRow, 'event' | 'at'>) => void,
): AsyncGenerator<AuditRow> {
  await access(file).catch(() => {
    throw new Failure(`${file} cannot be read; it must be an export of the audit log`);
  });
  let [number, last] = [0, 0];
  for await (const { text } of readLines(createReadStream(file))) {
    number += 1;
    if (text === '') continue;
    const line = parseLine(text);
    if (line === undefined) throw new Failure(`line ${number} of ${file} is no line of an audit export`);
    // A sink gets each row at least once.
    if (line.type === 'checkpoint' || line.seq <= last) continue;
    last = line.seq;
    if (line.type === 'row') yield line;
    else onErased(line);
  }
  if (last === 0) throw new Failure(`${file} holds no rows of an audit log`);
}
