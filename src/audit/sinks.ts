import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ExportLine, timeOf } from './export-line.ts';

/** The sinks of the audit log, and the time that it stays in Redis. */
export interface AuditSettings {
  /** The path of a JSON Lines file. */
  readonly file: string | undefined;
  readonly http: { readonly url: string; readonly headers: Readonly<Record<string, string>> } | undefined;
  readonly retentionMs: number | undefined;
}

/** A place outside Redis that keeps the log. It gets every line at least once, and the rows of a shard in order. */
export interface Sink {
  /** Names the sink in Redis, without secrets. Another name is another sink, which gets everything from the start. */
  readonly name: string;
  /** Resolves when all lines are kept. */
  send(lines: readonly ExportLine[]): Promise<void>;
}

/** Resolves the path of the file against the folder of the manifest. */
export function auditSettings(declared: AuditSettings, folder: string): AuditSettings {
  return { ...declared, file: declared.file === undefined ? undefined : resolve(folder, declared.file) };
}

const HTTP_TIMEOUT_MS = 15_000;
const TAIL_BYTES = 65_536;

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
export function httpSink(url: string, headers: Readonly<Record<string, string>>): Sink {
  const { origin, pathname } = new URL(url);
  return {
    name: `http:${origin}${pathname}`,
    async send(lines) {
      for (const line of lines) {
        const response = await fetch(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/cloudevents+json; charset=utf-8' },
          body: JSON.stringify(cloudEvent(line)),
          redirect: 'error',
          signal: AbortSignal.timeout(HTTP_TIMEOUT_MS),
        });
        await response.body?.cancel();
        if (!response.ok) throw new Error(`${origin} answered with status ${response.status}`);
      }
    },
  };
}

/** Wraps a line in the envelope of CloudEvents 1.0; `source` and `id` together are the same for every copy of it. */
function cloudEvent(line: ExportLine): object {
  const common = { specversion: '1.0', datacontenttype: 'application/json', data: line };
  if (line.type === 'checkpoint')
    return {
      ...common,
      id: `checkpoint-${line.n}`,
      source: '/countersign/audit/checkpoints',
      type: 'countersign.audit.checkpoint',
      time: timeOf(line.at),
      sequence: String(line.n),
    };
  return {
    ...common,
    id: `${line.shard}-${line.seq}`,
    source: `/countersign/audit/${line.shard}`,
    type: 'countersign.audit.row',
    subject: line.subject,
    time: line.time,
    partitionkey: String(line.shard),
    sequence: String(line.seq),
  };
}
