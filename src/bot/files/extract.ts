import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';

/** The limits of one extraction. */
export interface ExtractLimits {
  readonly timeoutMs: number;
  /** The most characters of a PDF. */
  readonly maxCharacters: number;
  readonly signal: AbortSignal;
}

export type Extracted<Value> =
  | ({ readonly outcome: 'read' } & Value)
  | { readonly outcome: 'unreadable' | 'too-slow'; readonly reason: string };

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
export async function extractPdf(
  bytes: Buffer,
  limits: ExtractLimits,
): Promise<Extracted<z.infer<typeof PdfText>>> {
  const run = await runExtractor('pdf', bytes, limits);
  if (run.outcome !== 'read') return run;
  return { outcome: 'read', ...PdfText.parse(JSON.parse(run.head)) };
}

/** Writes an image anew in a process of its own, small enough for a model and without metadata. */
export async function shrinkImage(
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
      else resolve({ outcome: isLate ? 'too-slow' : 'unreadable', reason: problem.trim() || ending });
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

const IS_SOURCE = import.meta.url.endsWith('.ts');
/** Stands beside this file, in the source and in the bundle. */
const PROGRAM = fileURLToPath(
  new URL(IS_SOURCE ? './extract-file.ts' : './extract-file.js', import.meta.url),
);
const NODE_OPTIONS = [
  `--max-old-space-size=${MAX_HEAP_MB}`,
  ...(IS_SOURCE ? ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href] : []),
];
