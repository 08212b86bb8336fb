import { z } from 'zod';

/** What does not fit and where, in one line. */
export function problemOf(error: unknown): string {
  if (error instanceof z.ZodError)
    return error.issues
      .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
      .join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Reads one part of a record; what does not fit throws an error that names the part. */
export function readPart<Part>(name: string, read: () => Part): Part {
  try {
    return read();
  } catch (error) {
    throw new Error(`${name}: ${problemOf(error)}`, { cause: error });
  }
}
