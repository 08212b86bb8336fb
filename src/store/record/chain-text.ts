import type { AuditRow } from './audit-row.ts';

/** Writes the text whose SHA-1 is the hash of a row, as `lib/audit.lua` does; `bodyDigest` is the SHA-256 of its body, '' without one. */
export function linkText(row: Omit<AuditRow, 'hash'>, before: string, bodyDigest: string): string {
  return [before, row.v, row.seq, row.at, row.event, row.subject, row.detail, bodyDigest].join('\n');
}

/** Writes the text whose SHA-256 is the chain up to a row that checkpoints sign. */
export function sealText({ v, seq, at, event, subject, detail, body }: AuditRow, before: string): string {
  return JSON.stringify([before, v, seq, at, event, subject, detail, body]);
}
