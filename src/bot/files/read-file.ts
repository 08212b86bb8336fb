import type { Logger } from 'pino';
import type { FileLimits } from '../../tools/manifest/manifest.ts';
import { type Extracted, extractPdf, shrinkImage } from './extract.ts';
import type { FileHost } from './file-host.ts';
import { judgeKind } from './file-kind.ts';
import type { SlackFile } from './slack-file.ts';

/** The reasons why a file is only named. */
export type NamedBecause =
  | 'too-large'
  | 'too-many'
  | 'no-room'
  | 'too-slow'
  | 'refused'
  | 'deleted'
  | 'external'
  | 'unreachable'
  | 'archive'
  | 'other'
  | 'switched-off'
  | 'unreadable'
  | 'empty';

/** A file as a model can be shown it. */
export type FileContent = { readonly type?: string | undefined; readonly size: number | undefined } & (
  | { readonly kind: 'image'; readonly type: string; readonly bytes: Buffer }
  | {
      readonly kind: 'text';
      readonly text: string;
      /** Whether there is more than the text. */
      readonly isCut: boolean;
    }
  | { readonly kind: 'named'; readonly because: NamedBecause }
);

export interface ReadOptions {
  readonly limits: FileLimits;
  /** The most characters of text. */
  readonly maxCharacters: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Downloads a file and reads it by what it is. Whatever cannot be read is named, with the reason. */
export async function readFile(
  fileHost: FileHost,
  file: SlackFile,
  { limits, maxCharacters, signal, logger }: ReadOptions,
): Promise<FileContent> {
  const download = await fileHost.read(file, limits, signal);
  if (download.outcome !== 'read') return { kind: 'named', because: download.outcome, size: file.size };
  const { bytes } = download;
  const size = bytes.length;
  const judged = judgeKind(bytes);
  const { kind, type } = judged;
  const named = (because: NamedBecause): FileContent => ({ kind: 'named', because, type, size });
  if (size === 0) return named('empty');
  if (kind === 'archive' || kind === 'other') return named(kind);
  if (!limits.types.includes(kind)) return named('switched-off');
  if (kind === 'text') {
    const { text } = judged;
    const isCut = text.length > maxCharacters;
    return { kind, text: isCut ? cutText(text, maxCharacters) : text, isCut, type, size };
  }
  const note = (read: Extracted<object>): FileContent => {
    if (read.outcome === 'read') return named('unreadable');
    logger.warn({ file: file.id, type, reason: read.reason }, 'file not read');
    return named(read.outcome);
  };
  const options = { timeoutMs: limits.timeoutMs, maxCharacters, signal };
  if (kind === 'image') {
    const image = await shrinkImage(bytes, options);
    if (image.outcome !== 'read') return note(image);
    return { kind, type: image.type, bytes: image.bytes, size };
  }
  const pdf = await extractPdf(bytes, options);
  if (pdf.outcome !== 'read') return note(pdf);
  if (pdf.text === '') return named('empty');
  return { kind: 'text', text: pdf.text, isCut: pdf.isCut, type, size };
}

/** Cuts a text between two characters. */
function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
