/** An id of the manifest, with its line and the name that it has in Slack. */
export interface NamedId {
  readonly id: string;
  /** From 1. */
  readonly line: number;
  readonly name: string;
}

/** Matches an entry of a list that is one id, with the comment behind it. Such a comment is the name. */
const ENTRY = /^(\s*-\s+["']?[A-Z0-9]+["']?)(?:\s+#\s*(.*?))?\s*$/;

/** Finds entries of lists whose comment names somebody else than Slack does. */
export function findWrongNames(
  text: string,
  named: readonly NamedId[],
): (NamedId & { readonly written: string })[] {
  const lines = text.split('\n');
  return named.flatMap((each) => {
    const [, , written] = ENTRY.exec(lines[each.line - 1] ?? '') ?? [];
    return written === undefined || written === '' || written === each.name ? [] : [{ ...each, written }];
  });
}

/**
 * Writes the names of ids beside them, as comments: behind an entry of a list in place of what is there, behind any other line only where there
 * is no comment yet. Nothing but comments changes.
 */
export function withNames(text: string, named: readonly NamedId[]): string {
  return text
    .split('\n')
    .map((line, index) => {
      const own = named.filter((each) => each.line === index + 1);
      if (own.length === 0) return line;
      const comment = [...new Set(own.map(({ name }) => name))].join(', ');
      const [, entry] = ENTRY.exec(line) ?? [];
      if (entry !== undefined) return `${entry} # ${comment}`;
      return /\s#/.test(line) ? line : `${line.trimEnd()} # ${comment}`;
    })
    .join('\n');
}
