import { Readable } from 'node:stream';
import { crc32, createDeflate, deflateSync } from 'node:zlib';

/** The parts of a PNG beside its pixels: texts of its metadata, and how many rows it really has. */
export interface PngOptions {
  readonly texts?: Readonly<Record<string, string>>;
  readonly rows?: number;
}

/** Makes a black PNG of a size. */
export function makePng(
  width: number,
  height: number,
  { texts = {}, rows = height }: PngOptions = {},
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const notes = Object.entries(texts).map(([key, text]) =>
    pngChunk('tEXt', Buffer.from(`${key}\0${text}`, 'latin1')),
  );
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    ...notes,
    pngChunk('IDAT', deflateSync(Buffer.alloc((width * 3 + 1) * rows), { level: 9 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Makes a PDF with one page for each text, a line for each of its lines. */
export function makePdf(...pages: readonly string[]): Buffer {
  return pdfOf(pages.map((text) => deflateSync(Buffer.from(pageContent(text), 'latin1'))));
}

/** Makes a PDF whose only page unpacks to this many megabytes of spaces, without ever holding them. */
export async function makePdfBomb(megabytes: number): Promise<Buffer> {
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const spaces = Readable.from(Array.from({ length: megabytes }, () => chunk));
  const packed: Buffer[] = [];
  for await (const part of spaces.pipe(createDeflate({ level: 9 }))) packed.push(part);
  return pdfOf([Buffer.concat(packed)]);
}

function pageContent(text: string): string {
  const lines = text.split('\n').map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj 0 -14 Td`);
  return `BT /F1 12 Tf 20 700 Td ${lines.join(' ')} ET`;
}

/** Writes a PDF around the deflated contents of its pages. */
function pdfOf(contents: readonly Buffer[]): Buffer {
  const first = 4;
  const pageIds = contents.map((_, index) => first + 2 * index);
  const objects = [
    Buffer.from('<</Type/Catalog/Pages 2 0 R>>'),
    Buffer.from(
      `<</Type/Pages/Kids[${pageIds.map((id) => `${id} 0 R`).join(' ')}]/Count ${contents.length}>>`,
    ),
    Buffer.from('<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>'),
    ...contents.flatMap((packed, index) => {
      const page = `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents ${first + 2 * index + 1} 0 R/Resources<</Font<</F1 3 0 R>>>>>>`;
      const head = `<</Length ${packed.length}/Filter/FlateDecode>>stream\n`;
      return [Buffer.from(page), Buffer.concat([Buffer.from(head), packed, Buffer.from('\nendstream')])];
    }),
  ];
  const parts = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let at = parts[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    offsets.push(at);
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]);
    parts.push(part);
    at += part.length;
  }
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const end = `xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${at}\n%%EOF`;
  return Buffer.concat([...parts, Buffer.from(end)]);
}
