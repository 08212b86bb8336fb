import type { JsonObject } from '../../../slack/state/types.ts';

/** True for a JSON object, neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON objects of a list; nothing for anything else. */
export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The strings of a list; nothing for anything else. */
export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Returns a string or a number as a string; empty for anything else. */
export function stringOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}

/** A number, or a string that is one; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Returns the raw text of a text object, for labels, placeholders and titles. */
export function textOf(text: unknown): string {
  return isObject(text) ? stringOf(text.text) : '';
}

/** Reads the style of a button; a style that Slack does not know is the default one. */
export function buttonStyle(style: unknown): 'primary' | 'danger' | 'default' {
  return style === 'primary' || style === 'danger' ? style : 'default';
}
