import { tryParseJson } from './agent/json.ts';

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace  ',
  20: 'debug  ',
  30: 'info   ',
  40: 'WARNING',
  50: 'ERROR  ',
  60: 'FATAL  ',
};
/** The fields that a person at a terminal knows already. */
const KNOWN = ['level', 'time', 'pid', 'hostname', 'msg', 'v', 'traceId'];
const ESCAPED = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Turns a line of the log into one for a person: the time, the level, what happened, and its fields. A line that is no JSON stays as it is. */
export function readableLine(line: string): string {
  const row: unknown = tryParseJson(line);
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return line;
  const fields = new Map(Object.entries(row));
  const { time, level, msg } = Object.fromEntries(fields);
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const others = [...fields].filter(([name]) => !KNOWN.includes(name));
  const shown = others.map(([name, value]) => `${name}=${valueText(value)}`);
  const text = [at, LEVELS[Number(level)] ?? String(level), String(msg ?? ''), ...shown].join('  ');
  return `${text.replaceAll(ESCAPED, (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`)}\n`;
}

/** Of an error its words are enough; its stack is in the log that is no terminal. */
function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[^\s="]+$/.test(value)) return value;
  const message =
    typeof value === 'object' && value !== null && 'message' in value ? value.message : undefined;
  return JSON.stringify(message ?? value);
}

/** Writes the log to a terminal. */
export const terminalLog = {
  write: (line: string): void => {
    process.stdout.write(readableLine(line));
  },
};
