import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { AuditMark, AuditStore } from '../store/port/audit.ts';
import type { DocumentStore } from '../store/port/documents.ts';
import { hashOf, parseCheckpoint } from './checkpoint.ts';
import { type ExportLine, timeOf } from './export-line.ts';
import { exportIn } from './export-progress.ts';

/** The sinks of the audit log, and the time that it stays in Redis. */
export interface AuditSettings {
  /** The path of a JSON Lines file. */
  readonly file: string | undefined;
  readonly http: { readonly url: string; readonly headers: Readonly<Record<string, string>> } | undefined;
  readonly retentionMs: number | undefined;
}

/** A place outside Redis that keeps the log. It gets every line at least once, and the rows in order. */
export interface Sink {
  /** Names the sink in Redis, without secrets. Another name is another sink, which gets everything from the start. */
  readonly name: string;
  readonly kind: 'file' | 'http';
  /** Resolves when all lines are kept. The id of the log tells its rows from those of other installations. */
  send(lines: readonly ExportLine[], logId: string): Promise<void>;
}

/** Resolves the path of the file against a folder: that of the manifest, or AUDIT_FOLDER. */
export function auditSettings(declared: AuditSettings, folder: string): AuditSettings {
  return { ...declared, file: declared.file === undefined ? undefined : resolve(folder, declared.file) };
}

const HTTP_TIMEOUT_MS = 15_000;
const TAIL_BYTES = 65_536;
const ID_HASH_LENGTH = 12;

/** Lists the sinks of the settings. */
export function sinksOf({ file, http }: AuditSettings): Sink[] {
  return [
    ...(file === undefined ? [] : [fileSink(file)]),
    ...(http === undefined ? [] : [httpSink(http.url, http.headers)]),
  ];
}

/** Appends JSON Lines to a file and flushes them to the disk. The file is opened anew each time, so that it can be rotated. */
export function fileSink(path: string): Sink {
  return {
    name: `file:${path}`,
    kind: 'file',
    async send(lines) {
      const file = await open(path, 'a+', 0o600);
      try {
        await dropTornLine(file);
        await file.appendFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
        await file.datasync();
      } finally {
        await file.close();
      }
    },
  };
}

/** Removes a last line that a crash left without its end; it was never confirmed, and is sent again. */
async function dropTornLine(file: Awaited<ReturnType<typeof open>>): Promise<void> {
  let { size } = await file.stat();
  while (size > 0) {
    const length = Math.min(size, TAIL_BYTES);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const end = buffer.lastIndexOf(0x0a) + 1;
    if (end === length) return;
    size = size - length + end;
    await file.truncate(size);
    if (end > 0) return;
  }
}

/** Posts each line as a CloudEvents event in structured JSON, one after the other. */
function httpSink(url: string, headers: Readonly<Record<string, string>>): Sink {
  const { origin, pathname } = new URL(url);
  return {
    name: `http:${origin}${pathname}`,
    kind: 'http',
    async send(lines, logId) {
      for (const line of lines) {
        const response = await fetch(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/cloudevents+json; charset=utf-8' },
          body: JSON.stringify(cloudEvent(line, logId)),
          redirect: 'error',
          signal: AbortSignal.timeout(HTTP_TIMEOUT_MS),
        });
        await response.body?.cancel();
        if (!response.ok) throw new Error(`${origin} answered with status ${response.status}`);
      }
    },
  };
}

/**
 * Wraps a line in the envelope of CloudEvents 1.0. `source` and `id` together are the same for every copy of it and for nothing else: the source
 * holds the id of the log, which no other installation has, and the id a hash of the contents.
 */
function cloudEvent(line: ExportLine, logId: string): object {
  const common = {
    specversion: '1.0',
    source: `/countersign/${logId}/audit`,
    datacontenttype: 'application/json',
    data: line,
  };
  if (line.type === 'checkpoint') {
    const { type: _type, ...checkpoint } = line;
    return {
      ...common,
      id: `checkpoint-${line.n}-${hashOf(checkpoint).slice(0, ID_HASH_LENGTH)}`,
      type: 'countersign.audit.checkpoint',
      time: timeOf(line.at),
      sequence: String(line.n),
    };
  }
  return {
    ...common,
    id: `row-${line.seq}-${line.hash.slice(0, ID_HASH_LENGTH)}`,
    type: 'countersign.audit.row',
    subject: line.subject,
    time: line.time,
    sequence: String(line.seq),
  };
}

interface TrimOptions {
  /** The configured sinks; only what all of them have is removed. */
  readonly sinks: readonly Pick<Sink, 'name'>[];
  readonly olderThanMs: number;
}

/**
 * Removes old rows and checkpoints from Redis. A row goes only if every sink has it and, where checkpoints exist, the last one covers
 * it. Without a sink nothing is removed. The last checkpoint stays.
 */
export async function trimExported(
  store: AuditStore & DocumentStore,
  { sinks, olderThanMs }: TrimOptions,
): Promise<{ readonly rows: number; readonly checkpoints: number }> {
  const progress = await exportIn(store).readProgress();
  const known = sinks.flatMap(({ name }) => progress.get(name) ?? []);
  if (sinks.length === 0 || known.length < sinks.length) return { rows: 0, checkpoints: 0 };
  const before = Date.now() - olderThanMs;
  const { checkpoint: newest } = await store.auditEnds();
  const covered = newest === undefined ? Number.POSITIVE_INFINITY : (parseCheckpoint(newest.text)?.seq ?? 0);
  const last = await lastBefore(store, Math.min(covered, ...known.map(({ seq }) => seq)), before);
  const exported = Math.min(...known.map(({ checkpoint }) => checkpoint), (newest?.n ?? 1) - 1);
  const trimmed = await store.trimAudit(last, await firstAfter(store, exported, before));
  const { rows = 0, checkpoints = 0 } = trimmed.outcome === 'trimmed' ? trimmed : {};
  return { rows, checkpoints };
}

/** Finds the last row up to a number that is older than a time; every row before it is older as well. */
async function lastBefore(store: AuditStore, limit: number, before: number): Promise<AuditMark | undefined> {
  let last: AuditMark | undefined;
  for await (const { seq, hash, at } of store.exportAudit()) {
    if (seq > limit || at >= before) break;
    last = { seq, hash };
  }
  return last;
}

/** Finds the first checkpoint that stays: those up to a number that are older than a time leave. */
async function firstAfter(store: AuditStore, limit: number, before: number): Promise<number> {
  let last = 0;
  for await (const { n, text } of store.readCheckpoints()) {
    if (n > limit || (parseCheckpoint(text)?.at ?? 0) >= before) break;
    last = n;
  }
  return last + 1;
}
