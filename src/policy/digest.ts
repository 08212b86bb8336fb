import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, pointerTo } from '../agent/json.ts';

/**
 * The version of the list of parts. A request of another version has another digest, so it does not run and is asked anew; a log keeps the
 * version of each row, so that its digest can be computed for as long as the list is known.
 */
export const DIGEST_VERSION = 5;

/** Names every part that a digest covers, as the row `asked` names it. */
export const DIGEST_PARTS = [
  'tool',
  /** The digest of the tool's definition, and that of the whole policy. */
  'definition',
  'policy_definition',
  'policy_name',
  /** The people who may decide, how many of them, how long, and whether a passkey has to sign. */
  'policy',
  /** The rule that asks, with its policy, and what the rules say now. */
  'rule',
  'rule_policy',
  'verdict',
  'arguments',
  /** The calls inside this one that wait, the answer to its server that it goes on with, and the question that its tool asks. */
  'inner',
  'answer',
  'ask',
  /** The words that people read about the call. */
  'title',
  'target',
  'shown',
  'preview',
  'changes',
  'first_shown',
  'files',
  'first',
  'reversible',
  'runs_as',
  'undoes',
  'requesters',
  'context_authors',
  'barred',
  'edited_by',
  'thread',
] as const;

/** The parts by their names; one that a request does not have is missing. */
export type DigestParts = { readonly [Part in (typeof DIGEST_PARTS)[number]]?: JsonValue };

/**
 * The hashes of what a row does not show, because it was redacted, by JSON pointer: of a value in a part, or of a whole part whose own
 * keys were redacted.
 */
export type HiddenHashes = Readonly<Record<string, string>>;

/** A computation that yields each text that it needs the SHA-256 of, so that Node and a browser can both run it. */
export type Hashing<Result> = Generator<string, Result, string>;

/** Reads the parts from the body of a row. */
export function partsIn(body: JsonObject): DigestParts {
  return Object.fromEntries(
    DIGEST_PARTS.flatMap((name) => (Object.hasOwn(body, name) ? [[name, body[name] ?? null]] : [])),
  );
}

/** Computes the digest over the hashes of the parts. */
export function* hashParts(parts: DigestParts, hidden: HiddenHashes = {}): Hashing<string> {
  const hashes: [string, string][] = [];
  for (const [name, part] of Object.entries(parts)) hashes.push([name, yield* hashPart(name, part, hidden)]);
  return yield canonicalJson({ v: DIGEST_VERSION, parts: Object.fromEntries(hashes) });
}

/** Computes the hash of one part, over the hashes of its values. */
export function* hashPart(name: string, part: JsonValue, hidden: HiddenHashes = {}): Hashing<string> {
  const pointer = pointerTo('', name);
  return hidden[pointer] ?? (yield canonicalJson(yield* hashValues(part, pointer, hidden)));
}

function* hashValues(value: JsonValue, pointer: string, hidden: HiddenHashes): Hashing<JsonValue> {
  const known = hidden[pointer];
  if (known !== undefined) return known;
  if (Array.isArray(value)) {
    const hashes: JsonValue[] = [];
    for (const [index, item] of value.entries())
      hashes.push(yield* hashValues(item, pointerTo(pointer, index), hidden));
    return hashes;
  }
  if (!isJsonObject(value)) return yield JSON.stringify(value);
  const fields: [string, JsonValue][] = [];
  for (const [key, entry] of Object.entries(value))
    fields.push([key, yield* hashValues(entry, pointerTo(pointer, key), hidden)]);
  return Object.fromEntries(fields);
}

/** Writes what binds a plan to the ordered list of what its approval lets run: the plan as it is shown, and the digest of each step in it. */
export function planText(
  shown: string,
  steps: readonly { readonly number: number; readonly digest: string }[],
  chosen: readonly number[] = steps.map(({ number }) => number),
): string {
  const list = steps
    .filter(({ number }) => chosen.includes(number))
    .map(({ number, digest }) => [number, digest]);
  return canonicalJson({ shown, list });
}

/** Writes what binds an approval to the choice that it lets the call go on with. */
export function choiceText(shown: string, number: number, choices: readonly JsonValue[]): string {
  return canonicalJson({ shown, number, choice: choices[number - 1] ?? null });
}
