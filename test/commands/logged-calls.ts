import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from './support.ts';

/** A row before it has its place in the log. */
export interface Written {
  readonly at: number;
  readonly event: string;
  readonly subject: string;
  readonly detail?: string;
  readonly body?: object;
}

export const CHANNEL = 'C0REFUNDS1';
export const MINUTE_MS = 60_000;
export const START = Date.parse('2026-11-16T10:00:00Z');

const POLICY = { principals: ['S0APPROVE1'], quorum: 1, selfApproval: false, resolvers: [], vetoes: 1 };

let count = 0;
const nextThread = () => {
  count += 1;
  return `${CHANNEL}:1700000000.${String(count).padStart(6, '0')}`;
};

interface Call {
  readonly at: number;
  readonly input?: object;
  readonly tool?: string;
  readonly requester?: string;
  readonly more?: object;
}

const bodyOf = ({ input = { amount: 500 }, tool = 'refund', requester = 'U0ANYBODY1', more = {} }: Call) => ({
  tool,
  arguments: input,
  requesters: [requester],
  ...more,
});

/** The rows of a call that ran without approval. */
export function ran(call: Call, end = 'succeeded'): Written[] {
  const subject = nextThread();
  const body = { ...bodyOf(call), ref: 'call-1', idempotencyKey: 'key' };
  return [
    { at: call.at, event: 'effect-started', subject, detail: 'try 1 run-1', body },
    { at: call.at + 1, event: `effect-${end}`, subject, detail: 'run-1', body },
  ];
}

/** The rows of a request, with each of its further events after a time. */
export function asked(call: Call, ...events: readonly (readonly [string, number, string?])[]): Written[] {
  const subject = `${nextThread()}~i1`;
  const body = { ...{ rule: 'this tool: always', policy_name: 'default', policy: POLICY }, ...bodyOf(call) };
  return [
    { at: call.at, event: 'asked', subject, detail: 'approval', body },
    ...events.map(([event, after, detail = '']) => ({ at: call.at + after, event, subject, detail })),
  ];
}

/** The row of a call that was denied. */
export function denied(call: Call): Written[] {
  return [{ at: call.at, event: 'denied', subject: nextThread(), body: { reason: 'No.', ...bodyOf(call) } }];
}

/** Writes rows as the export does, in the order of time, and gives the path. */
export function writeExport(rows: readonly Written[], more: readonly object[] = []): string {
  const file = join(newFolder(), 'audit.jsonl');
  const sorted = rows.toSorted((left, right) => left.at - right.at);
  const lines = sorted.map(({ at, event, subject, detail = '', body }, index) => {
    const time = new Date(at).toISOString();
    const text = body === undefined ? '' : JSON.stringify(body);
    return { type: 'row', v: 1, time, seq: index + 1, at, event, subject, detail, body: text, hash: 'ab' };
  });
  writeFileSync(file, [...lines, ...more].map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}
