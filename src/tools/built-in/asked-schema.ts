import { z } from 'zod';
import { isDeeperThan, isJsonObject } from '../../agent/json.ts';

const LONGEST = 20_000;
const DEEPEST = 20;

/**
 * A JSON Schema of the model's own making. It is short, and it has no regular expressions: a bad one takes for ever on a bad
 * answer, and the process with it.
 */
export const AskedSchema = z
  .record(z.string(), z.unknown())
  .refine((schema) => !isDeeperThan(DEEPEST, schema), `must not be nested more than ${DEEPEST} levels deep`)
  .refine(isShort, `must not have more than ${LONGEST} characters`)
  .refine((schema) => !hasPattern(schema), 'must not use "pattern" or "patternProperties"');

// The checks that follow one that failed are made all the same.
function isShort(schema: unknown): boolean {
  return isDeeperThan(DEEPEST, schema) || JSON.stringify(schema).length <= LONGEST;
}

/** A property may be called `pattern`; then it is an object. */
function hasPattern(schema: unknown, depth = 0): boolean {
  if (depth > DEEPEST || typeof schema !== 'object' || schema === null) return false;
  if (isJsonObject(schema) && (typeof schema.pattern === 'string' || schema.patternProperties !== undefined))
    return true;
  return Object.values(schema).some((part) => hasPattern(part, depth + 1));
}
