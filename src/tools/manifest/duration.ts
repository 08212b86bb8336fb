const UNITS = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

export const DURATION = /^[1-9][0-9]{0,5}[smhd]$/;

/** Milliseconds of a duration such as `30s`, `15m`, `4h` or `2d`; the text must fit `DURATION`. */
export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * (UNITS.get(text.slice(-1)) ?? Number.NaN);
}
