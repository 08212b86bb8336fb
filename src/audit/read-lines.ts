/** A line of a file, with its place in bytes. */
export interface PlacedLine {
  readonly text: string;
  readonly offset: number;
  readonly length: number;
}

/** Splits the bytes of a file at each newline and nowhere else: `readline` takes U+2028 and U+2029 for ends of lines too, and JSON may hold them. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<PlacedLine> {
  let rest: Buffer = Buffer.alloc(0);
  let offset = 0;
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield { text: rest.toString('utf8', 0, end), offset, length: end };
      offset += end + 1;
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length > 0) yield { text: rest.toString('utf8'), offset, length: rest.length };
}
