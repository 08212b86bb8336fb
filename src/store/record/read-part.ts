import { z } from 'zod';

/** Describes an error in one line, with the path of each zod issue. */
export function describeReadError(error: unknown): string {
  if (error instanceof z.ZodError)
    return error.issues
      .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
      .join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Reads one part of a record; an error names the part. */
export function readPart<Part>(name: string, read: () => Part): Part {
  try {
    return read();
  } catch (error) {
    throw new Error(`${name}: ${describeReadError(error)}`, { cause: error });
  }
}
