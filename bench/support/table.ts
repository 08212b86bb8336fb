/** A table to print; a row has one cell for each column. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Formats a table as Markdown: the first column aligned to the left, the others to the right. */
export function formatTable({ title, columns, rows }: Table): string {
  const widths = columns.map((column, place) =>
    Math.max(column.length, ...rows.map((row) => (row[place] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, place) => (place === 0 ? cell.padEnd(widths[place] ?? 0) : cell.padStart(widths[place] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, place) => (place === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [`**${title}**`, '', line(columns), line(rule), ...rows.map(line), ''].join('\n');
}
