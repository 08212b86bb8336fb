/** Redis did not answer or did not let us in; the message is one sentence that holds no credentials. */
export class RedisUnreachableError extends Error {
  readonly code = 'REDIS_UNREACHABLE';
  readonly reason: string;

  constructor(label: string, reason: string) {
    super(
      isLockedOut(reason)
        ? `Redis at ${label} refused us (${reason}); check the user and the password in REDIS_URL.`
        : `Redis at ${label} cannot be reached (${reason}); check that it runs and that REDIS_URL is right.`,
    );
    this.name = 'RedisUnreachableError';
    this.reason = reason;
  }
}

/** Says in a word why a connection failed: a server may echo what it was sent, so nothing more of its message is used. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason given';
  if (error instanceof RedisUnreachableError) return error.reason;
  if ('lastNodeError' in error && error.lastNodeError instanceof Error) return reasonOf(error.lastNodeError);
  if ('code' in error && typeof error.code === 'string') return error.code;
  const word = /^[A-Z]{3,}(?=\s|$)/.exec(error.message)?.[0];
  if (word !== undefined) return word;
  const code = /\bE(?:CONN[A-Z]+|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|PIPE)\b/.exec(
    error.message,
  );
  if (code !== null) return code[0];
  if (/sentinel/i.test(error.message)) return 'no Sentinel names a master';
  return /tim(?:ed out|eout)/i.test(error.message) ? 'timed out' : 'connection closed';
}

/** Tells whether the server answered, but does not accept the credentials. */
export function isLockedOut(reason: string): boolean {
  return ['WRONGPASS', 'NOAUTH'].includes(reason);
}
