import type { JsonObject } from '../../agent/json.ts';

/** A value that is replaced as a whole. */
export interface Document {
  /** New for every change; it holds no line break. */
  readonly version: string;
  readonly value: string;
}

/** A time in ms, or that for which idle threads are kept, at least a day. */
export type KeptFor = number | 'as-threads';

export interface WriteOptions {
  /** Writes only over this version; '' only where there is none. */
  readonly replaces?: string;
  /** Ends the document by itself after this time. */
  readonly forMs?: KeptFor;
  /** Adds a row to the audit log with the change. */
  readonly audit?: {
    readonly event: string;
    readonly subject: string;
    readonly detail: string;
    readonly body: JsonObject;
  };
}

/**
 * Named values beside threads and requests: the manifest that is active, accounts that people connected, what MCP servers listed first,
 * feedback, locks. Whoever changes one can say which version they have seen.
 */
export interface DocumentStore {
  /** Reads a document; with `forMs` it is kept for that long from now. */
  readDocument(
    group: string,
    id: string,
    options?: { readonly forMs: number },
  ): Promise<Document | undefined>;
  /** Writes a document or, with `undefined`, removes it. */
  writeDocument(
    group: string,
    id: string,
    document: Document | undefined,
    options?: WriteOptions,
  ): Promise<'written' | 'stale'>;
  /** Lists the documents whose name, `<group>|<id>`, begins so. */
  listDocuments(
    start: string,
  ): Promise<readonly (Document & { readonly group: string; readonly id: string })[]>;
}
