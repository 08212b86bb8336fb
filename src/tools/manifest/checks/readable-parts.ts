import type { z } from 'zod';
import { isJsonObject } from '../../../agent/json.ts';

/** Parses the valid parts of a value, so that one wrong key does not hide the mistakes in the others. */
export function readableParts<Parts>(schema: z.ZodType<Parts>, value: unknown): Parts {
  const whole = schema.safeParse(value);
  if (whole.success) return whole.data;
  if (!isJsonObject(value)) return schema.parse({});
  const wrong = new Set(
    whole.error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : issue.path.slice(0, 1),
    ),
  );
  return schema.parse(Object.fromEntries(Object.entries(value).filter(([key]) => !wrong.has(key))));
}
