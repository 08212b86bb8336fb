/** Returns the word that was probably meant: the nearest one that differs by a few letters only. */
export function nearestWord(written: string, words: Iterable<string>): string | undefined {
  const given = written.toLowerCase().replaceAll('-', '_');
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const word of words) {
    const distance = editDistance(given, word.toLowerCase());
    if (distance < least) {
      nearest = word;
      least = distance;
    }
  }
  return nearest;
}

/** Returns the end of a sentence that suggests the nearest word, or an empty text if none is near. */
export function didYouMean(written: string, words: Iterable<string>): string {
  const nearest = nearestWord(written, words);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

/** Counts the letters that have to be changed, removed, added, or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 20) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? 0;
}
