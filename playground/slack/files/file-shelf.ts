import { makeId, makeSecret } from '../ids.ts';

/** A file of the workspace with its bytes. */
export interface StoredFile {
  id: string;
  name: string;
  title: string;
  mimetype: string;
  user: string;
  created: number;
  /** The size that Slack announces; a test may announce another than that of the bytes. */
  size: number;
  bytes: Buffer;
  /** The number of zero bytes that follow the bytes when it is downloaded. */
  filler: number;
  /** The messages that show it. */
  shares: { channel: string; ts: string; thread_ts?: string }[];
  deleted: boolean;
}

/** A file as somebody adds it. */
export interface NewFile {
  name: string;
  bytes: Buffer;
  mimetype?: string;
  title?: string;
  size?: number;
  filler?: number;
}

/** An upload that an app has begun and not completed. */
interface Upload {
  fileId: string;
  name: string;
  length: number;
  bytes?: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  log: 'text/plain',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  ts: 'text/plain',
  txt: 'text/plain',
  webp: 'image/webp',
  zip: 'application/zip',
};

/** Keeps the files of the workspace and the uploads that are under way. */
export class FileShelf {
  readonly files = new Map<string, StoredFile>();
  /** The beginning of every address of a file. */
  origin = '';
  readonly #uploads = new Map<string, Upload>();

  /** Adds a file; like Slack, it takes the type from the name. */
  add(user: string, given: NewFile): StoredFile {
    return this.#keep(makeId('F'), user, given);
  }

  find(id: string): StoredFile | undefined {
    return this.files.get(id);
  }

  /** Begins an upload and returns the address that takes its bytes, once. */
  beginUpload(name: string, length: number): { uploadUrl: string; fileId: string } {
    const fileId = makeId('F');
    const ticket = makeSecret(24);
    this.#uploads.set(ticket, { fileId, name, length });
    return { uploadUrl: `${this.origin}/upload/v1/${ticket}`, fileId };
  }

  /** Takes the bytes of an upload; returns the problem if they do not fit. */
  receive(ticket: string, bytes: Buffer): string | undefined {
    const upload = this.#uploads.get(ticket);
    if (upload === undefined || upload.bytes !== undefined) return 'This upload does not exist.';
    if (bytes.length !== upload.length) return `${upload.length} bytes were announced.`;
    upload.bytes = bytes;
    return undefined;
  }

  /** Tells whether the bytes of an upload have arrived. */
  isUploaded(fileId: string): boolean {
    return [...this.#uploads.values()].some((each) => each.fileId === fileId && each.bytes !== undefined);
  }

  /** Completes an upload whose bytes have arrived; `undefined` if there is none. */
  complete(fileId: string, user: string, title: string | undefined): StoredFile | undefined {
    const [ticket, upload] = [...this.#uploads].find(([, each]) => each.fileId === fileId) ?? [];
    if (ticket === undefined || upload?.bytes === undefined) return undefined;
    this.#uploads.delete(ticket);
    const { name, bytes } = upload;
    return this.#keep(fileId, user, { name, bytes, ...(title !== undefined && { title }) });
  }

  #keep(id: string, user: string, given: NewFile): StoredFile {
    const { name, bytes, title = name, size = bytes.length, filler = 0 } = given;
    const mimetype = given.mimetype ?? TYPES[extensionOf(name)] ?? 'application/octet-stream';
    const created = Math.floor(Date.now() / 1_000);
    const described = { id, name, title, mimetype, user, created, size };
    const file = { ...described, bytes, filler, shares: [], deleted: false };
    this.files.set(id, file);
    return file;
  }
}

/** The end of a name after its last dot, in small letters. */
export function extensionOf(name: string): string {
  return /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}
