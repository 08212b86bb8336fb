import { hash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, isDeeperThan, isJsonObject, type JsonObject, toJson } from '../../../agent/json.ts';
import { compileSchema } from '../../../agent/schema/compile-schema.ts';
import type { ServerQuestion } from '../server-pause.ts';

const MAX_MESSAGE = 2000;
const MAX_SCHEMA = 20_000;
const MAX_SCHEMA_DEPTH = 20;
/** The longest address of a button in Slack. */
const MAX_URL = 3000;

/** A question that a person can be asked, or the reason why nobody is asked. */
export type ReadQuestion =
  | { readonly ok: true; readonly question: ServerQuestion }
  | { readonly ok: false; readonly problem: string };

const Form = z.object({
  mode: z.literal('form').optional(),
  message: z.string(),
  requestedSchema: z.record(z.string(), z.unknown()),
});
const Url = z.object({ mode: z.literal('url'), message: z.string(), url: z.string() });

/** Reads what a server asks for. A form that asks for a secret is refused, whatever the server says it is for. */
export function readQuestion(params: unknown): ReadQuestion {
  const url = Url.safeParse(params).data;
  if (url !== undefined) return readUrl(url);
  const form = Form.safeParse(params).data;
  if (form === undefined) return refuse('it asked in a way that cannot be read');
  const schema = toJson(form.requestedSchema);
  if (!isJsonObject(schema) || schema.type !== 'object') return refuse('its form has no fields');
  if (isDeeperThan(MAX_SCHEMA_DEPTH, schema) || JSON.stringify(schema).length > MAX_SCHEMA)
    return refuse('its form is too large');
  if (!isFlat(schema)) return refuse('its form has fields that are no plain values');
  const secret = secretField(schema);
  if (secret !== undefined)
    return refuse(`its form asks for a secret ("${secret}"), and secrets are never asked for in forms`);
  try {
    compileSchema(schema, 'form', 'schema');
  } catch {
    return refuse('the schema of its form is not valid');
  }
  return { ok: true, question: { mode: 'form', message: form.message.slice(0, MAX_MESSAGE), schema } };
}

function readUrl({ message, url }: z.infer<typeof Url>): ReadQuestion {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isWeb = parsed?.protocol === 'https:' || parsed?.protocol === 'http:';
  if (parsed === undefined || !isWeb) return refuse("the link it wants opened isn't an http(s) URL");
  // A name before the "@" can pose as the host.
  if (parsed.username !== '' || parsed.password !== '')
    return refuse('the link it wants opened contains a user name');
  if (parsed.href.length > MAX_URL) return refuse('the link it wants opened is too long');
  return { ok: true, question: { mode: 'url', message: message.slice(0, MAX_MESSAGE), url: parsed.href } };
}

function refuse(problem: string): ReadQuestion {
  return { ok: false, problem };
}

const PLAIN_TYPES = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'array']);

/** True for a form of plain values and lists of them, which is all that the protocol allows. */
function isFlat({ properties = {} }: JsonObject): boolean {
  if (!isJsonObject(properties)) return false;
  return Object.values(properties).every((field) => {
    if (!isJsonObject(field) || !PLAIN_TYPES.has(field.type)) return false;
    return field.type !== 'array' || (isJsonObject(field.items) && !('properties' in field.items));
  });
}

/** Computes the digest by which the same question is recognized when the server asks it again. */
export function questionDigest(question: ServerQuestion): string {
  return hash('sha256', canonicalJson(question));
}

const SECRET_WORDS =
  /\b(tokens?|secrets?|passwords?|passwd|pwd|passphrases?|passcodes?|credentials?|otp|cvv|cvc|(api|access|private|secret|ssh|signing|encryption) ?keys?|card numbers?|(security|verification) codes?)\b/;

/** Returns the name of the first field that asks for a secret, by its format, its name or its title. */
function secretField(schema: JsonObject): string | undefined {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).find(([name, field]) => {
    if (!isJsonObject(field)) return isSecretName(name);
    if (field.format === 'password' || field.writeOnly === true) return true;
    if (field.type === 'boolean') return false;
    return isSecretName(name) || (typeof field.title === 'string' && isSecretName(field.title));
  })?.[0];
}

/** Splits `apiKey`, `api_key` and `api-key` into the same words. */
function isSecretName(name: string): boolean {
  const words = name
    .normalize('NFKC')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/[^a-zA-Z]+/g, ' ')
    .toLowerCase();
  return SECRET_WORDS.test(words) || /(password|apikey|secret|passphrase)/.test(words.replaceAll(' ', ''));
}
