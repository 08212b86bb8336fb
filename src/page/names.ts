import type { Names } from './protocol.ts';

/** The id of a person, a user group or a channel, as a word of its own. Slack's ids have a digit; words in capitals have none. */
const ID = /(?<![\w-])(?=[A-Z]*\d)[UWSC][A-Z0-9]{4,20}(?![\w-])/g;

/** Lists the ids in a text, each once. */
export function idsIn(text: string): string[] {
  return [...new Set(text.match(ID) ?? [])];
}

/** A part of a text: words, or an id with its name. */
export type NamedPart = string | { readonly id: string; readonly name: string };

/** Divides a text at the ids that have a name. The parts, with ids in place of names, are the text. */
export function namedParts(text: string, names: Names): NamedPart[] {
  const parts: NamedPart[] = [];
  let end = 0;
  for (const { 0: id, index } of text.matchAll(ID)) {
    const name = Object.hasOwn(names, id) ? names[id] : undefined;
    if (name === undefined) continue;
    if (index > end) parts.push(text.slice(end, index));
    parts.push({ id, name });
    end = index + id.length;
  }
  return end < text.length ? [...parts, text.slice(end)] : parts;
}

/** Makes names tell people apart: one that several have, or that looks like an id, gets the id behind it. */
export function distinctNames(found: readonly (readonly [id: string, name: string])[]): Names {
  const holders = new Map<string, number>();
  for (const [, name] of found) holders.set(alike(name), (holders.get(alike(name)) ?? 0) + 1);
  return Object.fromEntries(
    found.map(([id, name]) => {
      const isClear = holders.get(alike(name)) === 1 && idsIn(name).length === 0;
      return [id, isClear ? name : `${name} (${id})`];
    }),
  );
}

/** Returns what two names have in common that people take for the same. */
export function alike(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}
