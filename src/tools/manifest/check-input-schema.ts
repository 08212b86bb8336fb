import { Ajv2020 } from 'ajv/dist/2020.js';
import { DefinitionError } from '../../agent/errors.ts';
import type { JsonObject } from '../../agent/json.ts';
import { compileSchema } from '../../agent/schema/compile-schema.ts';
import type { Finding } from './problem.ts';

let metaSchema: Ajv2020 | undefined;

/** Says what is wrong with a tool's input schema, at the keyword that is wrong where that is known. */
export function checkInputSchema(pointer: string, schema: JsonObject, tool: string): Finding[] {
  metaSchema ??= new Ajv2020({ strict: false, allErrors: true, logger: false });
  if (schema.$schema === undefined && metaSchema.validateSchema(schema) !== true) {
    const deepest = [...(metaSchema.errors ?? [])].sort(
      (a, b) => b.instancePath.length - a.instancePath.length,
    )[0];
    const reason = deepest?.message ?? 'it does not fit';
    const allowed: unknown = deepest?.params.allowedValues;
    const message = `this is not a valid JSON Schema: ${reason}${Array.isArray(allowed) ? ` (${allowed.join(', ')})` : ''}`;
    return [{ pointer: `${pointer}${deepest?.instancePath ?? ''}`, at: 'value', message }];
  }
  try {
    compileSchema(schema, tool, 'input');
  } catch (error) {
    const cause = error instanceof DefinitionError ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return [{ pointer, at: 'value', message: `this JSON Schema cannot be used: ${reason}` }];
  }
  if (schema.type === 'object') return [];
  return [
    {
      pointer,
      at: 'value',
      message: 'the input of a tool is an object; write "type: object" and its properties',
    },
  ];
}
