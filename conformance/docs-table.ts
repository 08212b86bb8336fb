import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DOCS = fileURLToPath(new URL('../docs/evidence/conformance.md', import.meta.url));

/** Replaces the table between two marks of docs/evidence/conformance.md. */
export function replaceTable(mark: string, lines: readonly string[]): void {
  const text = readFileSync(DOCS, 'utf8');
  const marked = new RegExp(`(<!-- ${mark} -->\n)[\\s\\S]*(<!-- /${mark} -->)`);
  if (!marked.test(text)) throw new Error(`docs/evidence/conformance.md has no marks for "${mark}"`);
  writeFileSync(
    DOCS,
    text.replace(marked, (_all, start: string, end: string) => `${start}${lines.join('\n')}\n${end}`),
  );
}
