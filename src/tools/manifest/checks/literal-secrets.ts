interface LiteralSecret {
  readonly offset: number;
  readonly message: string;
}

/** Match tokens of well-known services, with enough further characters to be real ones. */
const TOKENS = [
  /\b(xox[a-z](?:\.xox[a-z])?-)[A-Za-z0-9-]{10,}/g,
  /\b(xapp-)[A-Za-z0-9-]{10,}/g,
  /\b(sk-)[A-Za-z0-9_-]{16,}/g,
  /\b([sr]k_(?:live|test)_)[A-Za-z0-9]{16,}/g,
  /\b(gh[opusr]_)[A-Za-z0-9]{20,}/g,
  /\b(github_pat_)[A-Za-z0-9_]{20,}/g,
  /\b(glpat-)[A-Za-z0-9_-]{16,}/g,
  /\b(npm_)[A-Za-z0-9]{30,}/g,
  /\b(AKIA)[A-Z0-9]{16}\b/g,
  /\b(AIza)[A-Za-z0-9_-]{30,}/g,
  /\b(eyJ)[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}/g,
  /(-----BEGIN )[A-Z ]*PRIVATE KEY-----/g,
  /(hooks\.slack\.com\/services\/)T[A-Z0-9]+\/B[A-Z0-9]+\/[A-Za-z0-9]{10,}/g,
  /\b(Bearer )(?=[A-Za-z0-9_.~+/-]*[0-9])[A-Za-z0-9_.~+/-]{16,}/g,
  /(?<=:\/\/)([^\s/:@"'{}$]+:)[^\s/@"'{}$]{3,}@/g,
];

/** Finds text that looks like a token, in comments too. A message repeats only its beginning. */
export function findLiteralSecrets(text: string): LiteralSecret[] {
  const found = TOKENS.flatMap((token) =>
    [...text.matchAll(token)].map(({ index, 1: beginning = '' }) => ({ offset: index, beginning })),
  );
  const offsets = new Set<number>();
  return found
    .filter(({ offset }) => !offsets.has(offset) && offsets.add(offset))
    .map(({ offset, beginning }) => ({
      offset,
      message: `${beginning.trim()}… looks like a secret; keep it in the environment and write \${NAME} here`,
    }));
}
