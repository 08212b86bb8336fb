/** A record was written by a later version of this program; the processes of that version take care of it. */
export class NewerRecordError extends Error {
  override readonly name = 'NewerRecordError';
}

/** Stops at a record of a later version: a process that cannot read it must neither change nor quarantine it. */
export function refuseNewer(what: string, version: string | undefined, known: number): void {
  if (version === undefined || !/^\d{1,9}$/.test(version) || Number(version) <= known) return;
  throw new NewerRecordError(
    `${what} was written by a later version of Countersign (${version}; this one knows ${known}). Bring this process up to date.`,
  );
}
