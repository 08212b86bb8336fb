import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import type { AuditRow, AuditStore } from '../store/port/audit.ts';
import { threadOf } from '../store/port/keys.ts';

/** One request as the audit log tells it. */
export interface RequestEntry {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly tool: string;
  /** Missing where no policy applies, such as for a question. */
  readonly policy: string | undefined;
  readonly rule: string | undefined;
  /** The reason that the manifest gives for the rule. */
  readonly because: string | undefined;
  readonly requesters: readonly string[];
  /** The title and the tool in small letters, for a search. */
  readonly searched: string;
  readonly askedAt: number;
  state: string;
  /** When it was approved, rejected or answered. */
  decidedAt: number | undefined;
  endedAt: number | undefined;
  readonly votes: EntryVote[];
  /** The approvals after the last vote, and those that are needed. */
  approvals: { readonly given: number; readonly needed: number } | undefined;
  /** The numbers of its rows in the log. */
  readonly rows: number[];
}

export interface EntryVote {
  readonly who: string;
  readonly decision: string;
  readonly at: number;
}

const Asked = z.object({
  tool: z.string().catch(''),
  title: z.string().optional().catch(undefined),
  policy_name: z.string().optional().catch(undefined),
  rule: z.string().optional().catch(undefined),
  because: z.string().optional().catch(undefined),
  requester: z.string().optional().catch(undefined),
  requesters: z.array(z.string()).optional().catch(undefined),
});

/** The state after each event of the log; any other event changes none. */
const STATE_AFTER: Readonly<Record<string, string>> = {
  approved: 'approved',
  rejected: 'rejected',
  answered: 'answered',
  expired: 'expired',
  withdrawn: 'withdrawn',
  superseded: 'superseded',
  abandoned: 'failed',
  started: 'started',
  retried: 'approved',
  succeeded: 'succeeded',
  failed: 'failed',
  paused: 'paused',
  unknown: 'unknown',
  resolved: 'resolved',
};
const OPEN: ReadonlySet<string> = new Set(['pending', 'approved', 'started', 'unknown']);

/** The most requests that are kept; the oldest leave first. */
const MOST_REQUESTS = 50_000;

/**
 * Lists requests from the audit log, oldest first. It is a reading of the log and nothing else: each look reads only the rows that came since
 * the last one, so that a list of ten thousand costs as many commands as one of ten, and a process that starts begins again.
 */
export class RequestIndex {
  readonly #store: Pick<AuditStore, 'auditEnds' | 'exportAudit'>;
  readonly #most: number;
  #entries = new Map<string, RequestEntry>();
  /** All entries as a list, until one comes or leaves. */
  #list: readonly RequestEntry[] | undefined;
  #last = 0;
  #reading: Promise<void> | undefined;

  constructor(store: Pick<AuditStore, 'auditEnds' | 'exportAudit'>, most = MOST_REQUESTS) {
    this.#store = store;
    this.#most = most;
  }

  /** Returns all requests as they are now, oldest first. */
  async all(): Promise<readonly RequestEntry[]> {
    await this.#refresh();
    this.#list ??= [...this.#entries.values()];
    return this.#list;
  }

  async find(id: string): Promise<RequestEntry | undefined> {
    await this.#refresh();
    return this.#entries.get(id);
  }

  /** Lists the rows of a request in the log, in their order; those that were trimmed are gone. */
  async rowsOf({ id, rows }: Pick<RequestEntry, 'id' | 'rows'>): Promise<AuditRow[]> {
    const found = new Map<number, AuditRow>();
    for (const seq of rows) {
      if (found.has(seq)) continue;
      let read = 0;
      for await (const row of this.#store.exportAudit(seq - 1)) {
        if (row.subject === id) found.set(row.seq, row);
        read += 1;
        // One page of the log is read anyway; the rows of a request are near each other.
        if (read >= ROWS_NEARBY) break;
      }
    }
    return [...found.values()].sort((one, other) => one.seq - other.seq);
  }

  /** Those who look at once share one reading. */
  #refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { head } = await this.#store.auditEnds();
    // Somebody restored an older copy of the record.
    if (head.seq < this.#last) [this.#entries, this.#list, this.#last] = [new Map(), undefined, 0];
    if (head.seq === this.#last) return;
    const before = this.#entries.size;
    for await (const row of this.#store.exportAudit(this.#last)) {
      addRow(this.#entries, row);
      this.#last = row.seq;
    }
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#most) break;
      this.#entries.delete(oldest);
      this.#list = undefined;
    }
    if (this.#entries.size !== before) this.#list = undefined;
  }
}

const ROWS_NEARBY = 400;

/** Reads all requests of a log at once, oldest first. */
export async function readRequests(rows: AsyncIterable<AuditRow>): Promise<readonly RequestEntry[]> {
  const entries = new Map<string, RequestEntry>();
  for await (const row of rows) addRow(entries, row);
  return [...entries.values()];
}

function addRow(entries: Map<string, RequestEntry>, row: AuditRow): void {
  const { event, subject } = row;
  const known = entries.get(subject);
  if (known !== undefined) {
    known.rows.push(row.seq);
    applyRow(known, row);
  } else if ((event === 'asked' || event === 'unknown') && threadOf(subject) !== undefined)
    entries.set(subject, entryOf(row));
}

/** Begins a request: people are asked about a call, or about a call of which nobody knows the outcome. */
function entryOf({ seq, at, event, subject, detail, body }: AuditRow): RequestEntry {
  const { data = Asked.parse({}) } = Asked.safeParse(tryParseJson(body));
  const title = data.title ?? data.tool;
  return {
    searched: `${title}\n${data.tool}`.toLowerCase(),
    id: subject,
    tool: data.tool,
    policy: data.policy_name,
    rule: data.rule,
    because: data.because,
    askedAt: at,
    kind: event === 'asked' ? detail : 'approval',
    title,
    requesters: data.requesters ?? (data.requester === undefined ? [] : [data.requester]),
    state: event === 'asked' ? 'pending' : 'unknown',
    decidedAt: undefined,
    endedAt: undefined,
    votes: [],
    approvals: undefined,
    rows: [seq],
  };
}

function applyRow(entry: RequestEntry, { event, at, detail }: AuditRow): void {
  const [first = '', second = '', given, , needed] = detail.split(' ');
  if (event === 'voted') {
    entry.votes.push({ who: second, decision: first, at });
    entry.approvals = { given: Number(given), needed: Number(needed) };
  }
  if (event === 'answered') entry.votes.push({ who: first, decision: 'answer', at });
  if (event === 'resolved') entry.votes.push({ who: second, decision: first, at });
  const next = event === 'resolved' && first === 'run-again' ? 'approved' : STATE_AFTER[event];
  if (next === undefined) return;
  if (['approved', 'rejected', 'answered'].includes(event)) entry.decidedAt ??= at;
  entry.state = next;
  entry.endedAt = OPEN.has(next) ? undefined : at;
}

/** The words by which a list is searched; all that are given must fit. */
export interface RequestSearch {
  /** A part of the title, the name of the tool, or the id. */
  readonly text?: string | undefined;
  readonly tool?: string | undefined;
  /** The id of a person who asked or decided, or a part of their name. */
  readonly person?: string | undefined;
  readonly state?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** Finds requests, newest first; `nameOf` knows people by name. */
export function searchRequests(
  entries: readonly RequestEntry[],
  {
    text = '',
    tool = '',
    person = '',
    state = '',
    since = 0,
    until = Number.POSITIVE_INFINITY,
  }: RequestSearch,
  nameOf: (id: string) => string,
): RequestEntry[] {
  const [words, called] = [text.toLowerCase(), tool.toLowerCase()];
  const isMeant = finderOf(person.toLowerCase(), nameOf);
  const found: RequestEntry[] = [];
  for (const entry of entries.toReversed()) {
    const { askedAt, searched, requesters, votes } = entry;
    if (askedAt < since || askedAt >= until) continue;
    if (state !== '' && entry.state !== state) continue;
    if (called !== '' && !entry.tool.toLowerCase().includes(called)) continue;
    if (words !== '' && !searched.includes(words) && entry.id !== text) continue;
    if (person !== '' && !requesters.some(isMeant) && !votes.some(({ who }) => isMeant(who))) continue;
    found.push(entry);
  }
  return found;
}

/** Tells whether an id is meant by an id or a part of a name; of each person it is found out once. */
function finderOf(person: string, nameOf: (id: string) => string): (id: string) => boolean {
  const known = new Map<string, boolean>();
  return (id) => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const isMeant = id.toLowerCase() === person || nameOf(id).toLowerCase().includes(person);
    known.set(id, isMeant);
    return isMeant;
  };
}

/** Lists the people of a request: who asked, and who decided. */
export function peopleOf({ requesters, votes }: RequestEntry): string[] {
  return [...new Set([...requesters, ...votes.map(({ who }) => who)])];
}
