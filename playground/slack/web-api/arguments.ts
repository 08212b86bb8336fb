import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { Refusal } from './refusal.ts';

/** A required string argument; arguments come from JSON or from a form, where everything is text. */
export const requiredString = z.union([z.string().min(1), z.number().transform(String)]);

/** An optional string argument; an empty one counts as missing. */
export const optionalString = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .transform((value) => (value === '' || value === null ? undefined : value));

/** A boolean argument; false when missing. */
export const flag = z
  .union([
    z.boolean(),
    z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1'),
  ])
  .optional()
  .default(false);

/** A page size. */
export const pageSize = (byDefault: number) => z.coerce.number().int().optional().default(byDefault);

/** A JSON argument, possibly inside a string; a malformed string is refused with the code. */
export const json = (code: string) =>
  z
    .unknown()
    .optional()
    .transform((value) => {
      if (typeof value !== 'string') return value ?? undefined;
      try {
        return JSON.parse(value) as unknown;
      } catch {
        throw new Refusal(code);
      }
    });

/** One page of a list and the cursor of the next one, empty at the end. */
export function paginate<T>(items: readonly T[], limit: number, cursor: string | undefined) {
  if (limit < 0 || limit > LIMITS.historyPage + 1) throw new Refusal('invalid_limit');
  const start =
    cursor === undefined
      ? 0
      : Number(
          Buffer.from(cursor, 'base64')
            .toString()
            .replace(/^offset:/, ''),
        );
  if (!Number.isInteger(start) || start < 0) throw new Refusal('invalid_cursor');
  const end = limit === 0 ? items.length : start + limit;
  const hasMore = end < items.length;
  return {
    page: items.slice(start, end),
    hasMore,
    nextCursor: hasMore ? Buffer.from(`offset:${end}`).toString('base64') : '',
  };
}
