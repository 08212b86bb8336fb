import type { JsonValue } from '../../../agent/json.ts';

const MIN_LENGTH = 80;
const ENCODED = /[A-Za-z0-9+/_-]{80,}={0,2}/g;
const HEX = /(?:[0-9a-fA-F]{2}){40,}/;
const PERCENT = /(?:%[0-9a-fA-F]{2}){12,}/;
const ESCAPES = /(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}){12,}/;
const SCRIPT =
  /<script\b|\beval\s*\(|\bFunction\s*\(|\bbase64\s+(?:-d|--decode)\b|-enc(?:odedcommand)?\s+[A-Za-z0-9+/=]{20,}|^#!|\bdata:[\w/+.-]+;base64,/im;
const MAX_DEPTH = 200;

/** Lists all arguments, by path, that a person cannot judge by reading: encoded text and scripts. */
export function opaqueArguments(input: JsonValue): string[] {
  const found: string[] = [];
  const visit = (value: JsonValue, path: string, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    if (typeof value === 'string') {
      if (isOpaque(value)) found.push(path);
    } else if (typeof value === 'object' && value !== null)
      for (const [name, entry] of Object.entries(value))
        visit(entry, path === '' ? name : `${path}.${name}`, depth + 1);
  };
  visit(input, '', 0);
  return found;
}

/** Tells whether a text is encoded or is a script. */
export function isOpaque(text: string): boolean {
  if (SCRIPT.test(text)) return true;
  if (text.length < MIN_LENGTH / 2) return false;
  if (PERCENT.test(text) || ESCAPES.test(text) || HEX.test(text)) return true;
  // A long word of letters only may be an identifier or a drawn line; encoded bytes mix cases and digits.
  return [...text.matchAll(ENCODED)].some(
    ([run]) => /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run),
  );
}
