/** Writes a moment of Slack's picker as JSON Schema's `date-time`; the same moment always gives the same text. */
export function momentText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
