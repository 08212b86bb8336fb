/**
 * Runs as a process of its own, without the bot's environment: it reads one hostile file from its input, a PDF or an image, and writes
 * what can be shown of it. It ends itself when it takes too much memory; its parent ends it when it takes too long.
 *
 * Arguments: `pdf` or `image`, the most bytes of memory, the most characters of text.
 * Output: one line of JSON, then the bytes of the image. Exit code 3: the package that reads images is not installed.
 */
import { Worker } from 'node:worker_threads';

const [kind = '', maxMemory = '0', maxCharacters = '0'] = process.argv.slice(2);

/** The longest side and the most pixels of an image, and the most bytes of the one that is sent to a model. */
const MAX_SIDE = 1_568;
const MAX_PIXELS = 100_000_000;
const MAX_BYTES = 1_000_000;

/** Watches the memory from a thread, because a parser does not return while it unpacks a bomb. */
const WATCH = `
const { workerData } = require('node:worker_threads');
setInterval(() => {
  if (process.memoryUsage.rss() > workerData) process.kill(process.pid, 'SIGKILL');
}, 20);
`;
new Worker(WATCH, { eval: true, workerData: Number(maxMemory) }).unref();

// Libraries write warnings there, and the output is the result.
console.log = () => {};

const bytes = await readInput();
try {
  if (kind === 'pdf') await readPdf(Number(maxCharacters));
  else await shrinkImage();
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message || error.name : String(error));
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  process.exitCode = code === 'ERR_MODULE_NOT_FOUND' ? 3 : 1;
}

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Writes the text of the first pages, as many as fit. */
async function readPdf(most: number): Promise<void> {
  const { getDocumentProxy } = await import('unpdf');
  const document = await getDocumentProxy(new Uint8Array(bytes), {
    isEvalSupported: false,
    useSystemFonts: false,
    disableFontFace: true,
    verbosity: 0,
  });
  let text = '';
  let page = 0;
  while (page < document.numPages && text.length <= most) {
    page += 1;
    const { items } = await (await document.getPage(page)).getTextContent();
    for (const item of items) {
      if (!('str' in item)) continue;
      text += item.hasEOL ? `${item.str}\n` : item.str;
      if (text.length > most) break;
    }
    text += '\n';
  }
  const isCut = text.length > most || page < document.numPages;
  write({ text: text.slice(0, most).trim(), pages: document.numPages, isCut });
}

/** Writes the image anew, small enough for a model; only its pixels are kept. */
async function shrinkImage(): Promise<void> {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  const open = () =>
    sharp(bytes, { limitInputPixels: MAX_PIXELS, sequentialRead: true, failOn: 'error', pages: 1 })
      .autoOrient()
      .resize({ width: MAX_SIDE, height: MAX_SIDE, fit: 'inside', withoutEnlargement: true });
  const { format } = await sharp(bytes, { limitInputPixels: MAX_PIXELS }).metadata();
  if (format !== 'jpeg') {
    const { data, info } = await open().png({ compressionLevel: 9 }).toBuffer({ resolveWithObject: true });
    if (data.length <= MAX_BYTES) return writeImage('image/png', data, info);
  }
  const flat = open().flatten({ background: '#ffffff' }).jpeg({ quality: 80 });
  const { data, info } = await flat.toBuffer({ resolveWithObject: true });
  writeImage('image/jpeg', data, info);
}

function writeImage(type: string, data: Buffer, { width, height }: { width: number; height: number }): void {
  write({ type, width, height });
  process.stdout.write(data);
}

function write(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
