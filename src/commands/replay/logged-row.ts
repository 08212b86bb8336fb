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
  arguments: z.json().optional(),
  requesters: People,
  context_authors: People.default([]),
  /** The call of the model; a request has none. */
  ref: z.string().default(''),
  granted: z.object({ grant: z.string() }).optional(),
});

const AskedPolicy = z.object({
  principals: People,
  quorum: z.number(),
  selfApproval: z.boolean().default(false),
  groups: z.array(z.object({ any: People, quorum: z.number() })).optional(),
  excluded: People.default([]),
});
const Asked = z.object({ rule: z.string(), policy_name: z.string(), policy: AskedPolicy });

/** The outcome of a call when it was made: people were asked, it ran without approval, or it was denied. */
export type Before =
  | {
      readonly outcome: 'asked';
      readonly rule: string;
      readonly policyName: string;
      readonly policy: Readonly<z.infer<typeof AskedPolicy>>;
    }
  | { readonly outcome: 'ran'; readonly isGranted: boolean }
  | { readonly outcome: 'denied' };

/** One call of the audit log. */
export interface LoggedCall {
  readonly at: number;
  /** The request, or the thread of a call that nobody was asked about. */
  readonly subject: string;
  /** Names the call among all; the rows of a request have its subject. */
  readonly action: string;
  /** The thread, the tool and the arguments: a call that continues after a pause shares nothing else with the one before. */
  readonly identity: string;
  readonly tool: string;
  /** The arguments; `undefined` if the log does not have them as they were. */
  readonly input: JsonValue | undefined;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly channel: string;
  readonly before: Before;
}

/** A later event of a call: it has started, it ended without an effect, it paused, or it is over. */
type Step = 'started' | 'undone' | 'paused' | 'over';

/** A row as a replay sees it: a new call, a later step of one, or a call that cannot be read. */
type LoggedRow =
  | { readonly kind: 'call'; readonly call: LoggedCall }
  | { readonly kind: 'step'; readonly step: Step; readonly action: string; readonly identity?: string }
  | { readonly kind: 'unreadable' };

const STEPS: ReadonlyMap<string, Step> = new Map([
  ['started', 'started'],
  ['failed', 'undone'],
  ['effect-failed', 'undone'],
  ['paused', 'paused'],
  ['effect-paused', 'paused'],
  ...['rejected', 'expired', 'succeeded', 'withdrawn', 'superseded', 'abandoned'].map(
    (event): [string, Step] => [event, 'over'],
  ),
]);

/** Tells whether each row of an event is one call; of a request, the question. */
export function isCall(event: string): boolean {
  return ['asked', 'effect-started', 'denied'].includes(event);
}

/** Parses a row of the audit log; `undefined` if a replay does not need it. */
export function parseRow(row: AuditRow): LoggedRow | undefined {
  const { event, subject, detail } = row;
  // Another try of the same call is no new call, and a question is none.
  if (event === 'effect-started' && !detail.startsWith('try 1 ')) return undefined;
  if (event === 'asked' && detail !== 'approval') return undefined;
  if (event === 'resolved')
    return detail.startsWith('run-again ')
      ? undefined
      : { kind: 'step', step: detail.startsWith('did-not-run ') ? 'undone' : 'over', action: subject };
  const step = STEPS.get(event);
  if (step === undefined && !isCall(event)) return undefined;
  if (step !== undefined && !event.startsWith('effect-')) return { kind: 'step', step, action: subject };
  const call = parseCall(row);
  if (call === undefined) return step === undefined ? { kind: 'unreadable' } : undefined;
  if (step !== undefined) return { kind: 'step', step, action: call.action, identity: call.identity };
  // A change of the manifest is no call of one of its tools.
  return call.tool === POLICY_CHANGE_TOOL ? undefined : { kind: 'call', call };
}

function parseCall({ at, seq, event, subject, body }: AuditRow): LoggedCall | undefined {
  const json = tryParseJson(body);
  const { data } = Called.safeParse(json);
  const asked = event === 'asked' ? Asked.safeParse(json).data : undefined;
  if (data === undefined || (event === 'asked' && asked === undefined)) return undefined;
  const { tool, arguments: input, requesters, context_authors: contextAuthors, ref } = data;
  const isKnown = input !== undefined && !JSON.stringify(input).includes(REDACTED);
  // A request's id begins with its thread's.
  const [thread = ''] = subject.split('~');
  const call = { at, subject, tool, requesters, contextAuthors, input: isKnown ? input : undefined };
  const place = {
    identity: canonicalJson([thread, tool, input ?? null]),
    channel: parseThreadId(thread).channel,
  };
  if (asked !== undefined) {
    const { rule, policy_name: policyName, policy } = asked;
    return { ...call, ...place, action: subject, before: { outcome: 'asked', rule, policyName, policy } };
  }
  if (event === 'denied') return { ...call, ...place, action: String(seq), before: { outcome: 'denied' } };
  const before = { outcome: 'ran', isGranted: data.granted !== undefined } as const;
  return { ...call, ...place, action: `${subject}/${ref}`, before };
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
