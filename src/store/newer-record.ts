/** Says that something on record was written by a later version of this program; it is left to the processes that can read it. */
export class NewerRecordError extends Error {
  override readonly name = 'NewerRecordError';
}

/** Stops before a record of a later version: whoever cannot read it must neither change it nor set it aside. */
export function refuseNewer(what: string, version: string | undefined, known: number): void {
  if (version === undefined || !/^\d{1,9}$/.test(version) || Number(version) <= known) return;
  throw new NewerRecordError(
    `${what} was written by a later version of Countersign (${version}; this one knows ${known}). Bring this process up to date.`,
  );
}
