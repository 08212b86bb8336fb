/** Keeps the last lines of a program's output that say something, indented to stand below a sentence. */
export function lastLines(output: string, count = 12): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return '  (it printed nothing)';
  return lines
    .slice(-count)
    .map((line) => `  ${line.trimEnd()}`)
    .join('\n');
}
