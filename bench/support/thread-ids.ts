let issued = 0;

/** Returns thread ids as long as Slack's own; none is returned twice. */
export function newThreadIds(count: number): string[] {
  return Array.from({ length: count }, () => {
    issued += 1;
    return `C0123456789:1712345678.${String(issued).padStart(6, '0')}`;
  });
}
