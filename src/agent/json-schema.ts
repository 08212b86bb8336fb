import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';

/** Any value of JSON. */
export const Json: z.ZodType<JsonValue> = z.custom<JsonValue>((value) => value !== undefined);
/** Any object of JSON, no list. */
export const JsonRecord = z.custom<JsonObject>(isJsonObject).meta({ type: 'object' });
