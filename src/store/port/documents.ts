import type { JsonObject } from '../../agent/json.ts';

/** A value that is replaced as a whole. */
export interface Document {
  /** New for every change; it holds no line break. */
  readonly version: string;
  readonly value: string;
}

export interface WriteOptions {
  /** Writes only over this version; '' only where there is none. */
  readonly replaces?: string;
  /** Ends the document by itself after this time; such a document is not listed. */
  readonly forMs?: number;
  /** Adds a row to the audit log with the change. */
  readonly audit?: {
    readonly event: string;
    readonly subject: string;
    readonly detail: string;
    readonly body: JsonObject;
  };
}

/**
 * Named values beside threads and requests: the manifest that is active, the accounts that people connected, locks. Whoever changes one can
 * say which version they have seen.
 */
export interface DocumentStore {
  readDocument(group: string, id: string): Promise<Document | undefined>;
  /** Writes a document or, with `undefined`, removes it. */
  writeDocument(
    group: string,
    id: string,
    document: Document | undefined,
    options?: WriteOptions,
  ): Promise<'written' | 'stale'>;
  /** Lists the documents whose group begins so; those that end by themselves are not listed. */
  listDocuments(start: string): Promise<readonly { readonly group: string; readonly id: string }[]>;
}
