import sharp, { type OverlayOptions } from 'sharp';

/** One picture of a sheet, with the words above it. */
export interface Tile {
  readonly caption: string;
  readonly picture: Buffer;
}

export interface SheetOptions {
  readonly columns: number;
  /** The width of a picture in the sheet; a narrower one keeps its own. */
  readonly width: number;
  readonly file: string;
}

const GAP = 16;
const CAPTION = 24;
const BACKGROUND = '#e8e8ec';
const COLOURS = 64;

/** Writes pictures with their captions into one file, row by row; a row is as high as its highest picture. */
export async function writeSheet(tiles: readonly Tile[], options: SheetOptions): Promise<void> {
  const { columns, width, file } = options;
  const sized = await Promise.all(tiles.map((tile) => resized(tile, width)));
  const rows = Array.from({ length: Math.ceil(sized.length / columns) }, (_, row) =>
    sized.slice(row * columns, (row + 1) * columns),
  );
  const parts: OverlayOptions[] = [];
  let top = GAP;
  for (const row of rows) {
    for (const [column, { caption, input }] of row.entries()) {
      const left = GAP + column * (width + GAP);
      parts.push({ input: captionImage(caption, width), left, top }, { input, left, top: top + CAPTION });
    }
    top += CAPTION + Math.max(...row.map(({ height }) => height)) + GAP;
  }
  const size = { width: GAP + columns * (width + GAP), height: top };
  await sharp({ create: { ...size, channels: 3, background: BACKGROUND } })
    .composite(parts)
    .png({ palette: true, colours: COLOURS, dither: 0, compressionLevel: 9 })
    .toFile(file);
}

/** Makes a picture about three times smaller: a screenshot has few colours. */
export async function compress(picture: Buffer, file: string): Promise<void> {
  await sharp(picture).png({ palette: true, colours: COLOURS, dither: 0, compressionLevel: 9 }).toFile(file);
}

async function resized({ caption, picture }: Tile, width: number) {
  const { data, info } = await sharp(picture)
    .resize({ width, withoutEnlargement: true })
    .png()
    .toBuffer({ resolveWithObject: true });
  return { caption, input: data, height: info.height };
}

function captionImage(caption: string, width: number): Buffer {
  const text = caption.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${CAPTION}"><text x="0" y="16" font-family="sans-serif" font-size="14" font-weight="bold" fill="#333">${text}</text></svg>`,
  );
}
