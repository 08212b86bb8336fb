import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import type { DocumentStore } from '../store/port/documents.ts';

const Progress = z.object({ seq: z.int(), checkpoint: z.int() });

/** The progress of the export to one sink: the numbers of the last row and of the last checkpoint that it has. */
export interface SinkProgress extends Readonly<z.infer<typeof Progress>> {
  /** New for every change. */
  readonly version: string;
}

/** The lease and the progress of the export, and the id of the log. */
export interface ExportRecord {
  /** Claims or renews the lease of the one process that signs and exports; false if another process holds it. */
  claim(owner: string, leaseMs: number): Promise<boolean>;
  release(owner: string): Promise<void>;
  /** Saves the progress of a sink and returns its version; `undefined` if another process has saved its own since `former`. */
  saveProgress(
    sink: string,
    progress: Omit<SinkProgress, 'version'>,
    former: string | undefined,
  ): Promise<string | undefined>;
  /** Reads the progress of every sink that was ever exported to, by its name. */
  readProgress(): Promise<ReadonlyMap<string, SinkProgress>>;
  /** Reads the id of this log, which no other installation has. */
  readLogId(): Promise<string>;
}

const LOCK = ['lock', 'export'] as const;
const LOG = ['log', 'id'] as const;
const SINKS = 'export';

/** Keeps them as documents. A checkpoint is appended by the holder of the lease only. */
export function exportIn(store: DocumentStore): ExportRecord {
  return {
    async claim(owner, leaseMs) {
      const lease = { version: owner, value: '' };
      return (await store.writeDocument(...LOCK, lease, { replaces: '', forMs: leaseMs })) === 'written';
    },

    async release(owner) {
      await store.writeDocument(...LOCK, undefined, { replaces: owner });
    },

    async saveProgress(sink, { seq, checkpoint }, former = '') {
      const document = { version: randomUUID(), value: JSON.stringify({ seq, checkpoint }) };
      const written = await store.writeDocument(SINKS, sink, document, { replaces: former });
      return written === 'written' ? document.version : undefined;
    },

    async readProgress() {
      const found = await store.listDocuments(`${SINKS}|`);
      return new Map(
        found.map(({ id, version, value }) => {
          // Progress that cannot be read is no progress: the sink gets everything again.
          const { data = { seq: 0, checkpoint: 0 } } = Progress.safeParse(tryParseJson(value));
          return [id, { ...data, version }];
        }),
      );
    },

    async readLogId() {
      await store.writeDocument(...LOG, { version: randomUUID(), value: '' }, { replaces: '' });
      return (await store.readDocument(...LOG))?.version ?? '';
    },
  };
}
