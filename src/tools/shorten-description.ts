const LONGEST_DESCRIPTION = 1024;

/** Cuts what a tool says of itself to what models take: a longer one would cost every request with that tool in it. */
export function shortenDescription(description: string): string {
  if (description.length <= LONGEST_DESCRIPTION) return description;
  // Half of a surrogate pair would be no text.
  return `${description.slice(0, LONGEST_DESCRIPTION - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
