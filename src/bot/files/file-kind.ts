/** The kind of a file by its content. Its name and the type that it is announced with count for nothing. */
export type FileKind =
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
