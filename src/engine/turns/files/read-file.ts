import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { FileLimits } from '../../../tools/manifest/manifest.ts';
import type { AttachedFile, NamedBecause, Places } from '../../ports.ts';

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

interface ReadOptions {
  readonly limits: FileLimits;
  /** The most characters of text. */
  readonly maxCharacters: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Downloads a file and reads it by what it is. Whatever cannot be read is named, with the reason. */
export async function readFile(
  places: Pick<Places, 'readFile'>,
  file: AttachedFile,
  { limits, maxCharacters, signal, logger }: ReadOptions,
): Promise<FileContent> {
  const download = await places.readFile(file, limits, signal);
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

/** The limits of one extraction. */
interface ExtractLimits {
  readonly timeoutMs: number;
  /** The most characters of a PDF. */
  readonly maxCharacters: number;
  readonly signal: AbortSignal;
}

type Extracted<Value> =
  | ({ readonly outcome: 'read' } & Value)
  | { readonly outcome: 'unreadable' | 'too-slow' | 'no-decoder'; readonly reason: string };

/** The most memory of the process, and the most that it may write. */
const MAX_MEMORY = 384 * 1024 * 1024;
const MAX_OUTPUT = 8 * 1024 * 1024;
const MAX_HEAP_MB = 256;
const MAX_REASON = 300;
/** The most processes at a time; a further file waits. */
const MAX_PROCESSES = 2;

const PdfText = z.object({ text: z.string(), pages: z.number(), isCut: z.boolean() });
const ImageFacts = z.object({ type: z.enum(['image/png', 'image/jpeg']) });

/** Reads the text of a PDF in a process of its own. */
async function extractPdf(bytes: Buffer, limits: ExtractLimits): Promise<Extracted<z.infer<typeof PdfText>>> {
  const run = await runExtractor('pdf', bytes, limits);
  if (run.outcome !== 'read') return run;
  return { outcome: 'read', ...PdfText.parse(JSON.parse(run.head)) };
}

/** Writes an image anew in a process of its own, small enough for a model and without metadata. */
async function shrinkImage(
  bytes: Buffer,
  limits: ExtractLimits,
): Promise<Extracted<{ readonly type: string; readonly bytes: Buffer }>> {
  const run = await runExtractor('image', bytes, limits);
  if (run.outcome !== 'read') return run;
  return { outcome: 'read', ...ImageFacts.parse(JSON.parse(run.head)), bytes: run.rest };
}

const waiting: (() => void)[] = [];
let running = 0;

async function runExtractor(
  kind: 'pdf' | 'image',
  bytes: Buffer,
  limits: ExtractLimits,
): Promise<Extracted<{ readonly head: string; readonly rest: Buffer }>> {
  if (running >= MAX_PROCESSES) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await runProcess(kind, bytes, limits);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

function runProcess(
  kind: 'pdf' | 'image',
  bytes: Buffer,
  { timeoutMs, maxCharacters, signal }: ExtractLimits,
): Promise<Extracted<{ readonly head: string; readonly rest: Buffer }>> {
  const given = [kind, String(MAX_MEMORY), String(maxCharacters)];
  const child = spawn(process.execPath, [...NODE_OPTIONS, PROGRAM, ...given], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // No secret of the bot is in reach of a file that takes the process over.
    env: process.env.SystemRoot === undefined ? {} : { SystemRoot: process.env.SystemRoot },
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve) => {
    const written: Buffer[] = [];
    let size = 0;
    let problem = '';
    let isLate = false;
    const kill = () => child.kill('SIGKILL');
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, timeoutMs);
    signal.addEventListener('abort', kill, { once: true });
    const end = (code: number | null, ending: string): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
      const output = Buffer.concat(written);
      const line = output.indexOf('\n');
      const isWhole = code === 0 && size <= MAX_OUTPUT && line >= 0;
      const head = output.toString('utf8', 0, line);
      if (isWhole) resolve({ outcome: 'read', head, rest: output.subarray(line + 1) });
      else resolve({ outcome: outcomeOf(code, isLate), reason: problem.trim() || ending });
    };
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT) kill();
      else written.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      problem = `${problem}${chunk}`.slice(0, MAX_REASON);
    });
    // A process that has ended takes no more input.
    child.stdin.on('error', () => {});
    child.stdin.end(bytes);
    child.once('error', (error) => end(null, error.message));
    child.once('close', (code, by) => end(code, by === null ? `exit code ${code}` : `ended by ${by}`));
  });
}

function outcomeOf(code: number | null, isLate: boolean): 'unreadable' | 'too-slow' | 'no-decoder' {
  if (isLate) return 'too-slow';
  return code === NO_DECODER ? 'no-decoder' : 'unreadable';
}

/** The exit code of a program without the package that reads images. */
const NO_DECODER = 3;
const IS_SOURCE = import.meta.url.endsWith('.ts');
/** Stands beside this file, in the source and in the bundle. */
const PROGRAM = fileURLToPath(
  new URL(IS_SOURCE ? './extract-file.ts' : './extract-file.js', import.meta.url),
);
const NODE_OPTIONS = [
  `--max-old-space-size=${MAX_HEAP_MB}`,
  ...(IS_SOURCE ? ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href] : []),
];

/** The kind of a file by its content. Its name and the type that it is announced with count for nothing. */
type FileKind =
  | { readonly kind: 'image' | 'pdf'; readonly type: string }
  | { readonly kind: 'text'; readonly type: string; readonly text: string }
  | { readonly kind: 'archive' | 'other'; readonly type: string };

type Signature = readonly [kind: 'image' | 'pdf' | 'archive' | 'other', type: string, ...bytes: Marks];
/** Bytes at an offset, as Latin-1. */
type Marks = readonly (readonly [at: number, bytes: string])[];

const SIGNATURES: readonly Signature[] = [
  ['image', 'image/png', [0, '\x89PNG\r\n\x1a\n']],
  ['image', 'image/jpeg', [0, '\xff\xd8\xff']],
  ['image', 'image/gif', [0, 'GIF87a']],
  ['image', 'image/gif', [0, 'GIF89a']],
  ['image', 'image/webp', [0, 'RIFF'], [8, 'WEBP']],
  ['pdf', 'application/pdf', [0, '%PDF-']],
  ['archive', 'application/zip', [0, 'PK\x03\x04']],
  ['archive', 'application/zip', [0, 'PK\x05\x06']],
  ['archive', 'application/gzip', [0, '\x1f\x8b']],
  ['archive', 'application/x-bzip2', [0, 'BZh']],
  ['archive', 'application/x-xz', [0, '\xfd7zXZ\0']],
  ['archive', 'application/zstd', [0, '\x28\xb5\x2f\xfd']],
  ['archive', 'application/x-7z-compressed', [0, '7z\xbc\xaf\x27\x1c']],
  ['archive', 'application/vnd.rar', [0, 'Rar!\x1a\x07']],
  ['archive', 'application/x-tar', [257, 'ustar']],
  ['other', 'audio/wav', [0, 'RIFF'], [8, 'WAVE']],
  ['other', 'audio/mpeg', [0, 'ID3']],
  ['other', 'audio/ogg', [0, 'OggS']],
  ['other', 'video/mp4', [4, 'ftyp']],
  ['other', 'video/webm', [0, '\x1a\x45\xdf\xa3']],
  ['other', 'image/tiff', [0, 'II*\0']],
  ['other', 'image/tiff', [0, 'MM\0*']],
  ['other', 'application/vnd.sqlite3', [0, 'SQLite format 3\0']],
  ['other', 'application/x-executable', [0, '\x7fELF']],
  ['other', 'application/x-msdownload', [0, 'MZ']],
  ['other', 'application/x-ole-storage', [0, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1']],
];

/** Judges a file by its content: a known beginning, or text without anything that text does not have. */
export function judgeKind(bytes: Uint8Array): FileKind {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = SIGNATURES.find(([, , ...marks]) =>
    marks.every(([at, mark]) => view.toString('latin1', at, at + mark.length) === mark),
  );
  if (found !== undefined) return { kind: found[0], type: found[1] };
  const text = decodeText(view);
  return text === undefined
    ? { kind: 'other', type: 'unknown type' }
    : { kind: 'text', type: 'text/plain', text };
}

/** Decodes valid UTF-8, or UTF-16 with its mark; `undefined` for anything else, and for text with a NUL. */
function decodeText(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
}
