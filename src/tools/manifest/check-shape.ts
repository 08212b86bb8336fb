import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { JsonValue } from '../../agent/json.ts';
import { describeSchemaErrors } from './describe-schema-errors.ts';
import { manifestJsonSchema } from './manifest-json-schema.ts';
import type { Finding } from './problem.ts';

const MOST_ERRORS = 500;

let validate: ValidateFunction | undefined;

/** Checks a manifest against the published schema, so that an editor and the bot never disagree about it. */
export function checkShape(value: JsonValue): Finding[] {
  validate ??= addFormats
    .default(new Ajv({ strict: false, allErrors: true, verbose: true, logger: false }))
    .compile(manifestJsonSchema());
  return validate(value) ? [] : describeSchemaErrors((validate.errors ?? []).slice(0, MOST_ERRORS));
}
