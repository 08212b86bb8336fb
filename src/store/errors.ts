const REFUSALS = ['WRONGPASS', 'NOAUTH', 'NOPERM', 'ERR'];
const CLOSED = 'connection closed';

/** Redis did not answer or refused the login. The message is one sentence without credentials. */
export class RedisUnreachableError extends Error {
  readonly code = 'REDIS_UNREACHABLE';
  readonly reason: string;

  constructor(label: string, reason: string) {
    super(
      REFUSALS.includes(reason)
        ? `Redis at ${label} refused us (${reason}); check the user and the password in REDIS_URL.`
        : `Redis at ${label} cannot be reached (${reason}); check that it runs and that REDIS_URL is right.`,
    );
    this.name = 'RedisUnreachableError';
    this.reason = reason;
  }
}

/** Names the reason of a failed connection in a word. A server may echo what it was sent, so nothing more of its message is used. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason given';
  if (error instanceof RedisUnreachableError) return error.reason;
  if ('lastNodeError' in error) {
    const reason = reasonOf(error.lastNodeError);
    return reason === CLOSED ? 'no node of the cluster answers' : reason;
  }
  if ('code' in error && typeof error.code === 'string') return error.code;
  const word = /^[A-Z]{3,}(?=\s|$)/.exec(error.message)?.[0];
  if (word !== undefined) return word;
  const code = /\bE(?:CONN[A-Z]+|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH|PIPE)\b/.exec(
    error.message,
  );
  if (code !== null) return code[0];
  if (/sentinels are unreachable/.test(error.message)) return reasonOfSentinels(error.message);
  return /tim(?:ed out|eout)/i.test(error.message) ? 'timed out' : CLOSED;
}

function reasonOfSentinels(message: string): string {
  if (/NOAUTH|WRONGPASS/.test(message)) return 'the Sentinels want other credentials';
  const isUnknown = message.includes('No such master') || !message.includes('Last error');
  return isUnknown ? 'no Sentinel knows this master' : 'no Sentinel answers';
}

/** Returns Redis's code if it answers and refuses to write: its memory or its disk is full, it is a replica, or it lacks replicas. */
export function refusalOf(error: unknown): string | undefined {
  return error instanceof Error ? /^(OOM|MISCONF|READONLY|NOREPLICAS)\b/.exec(error.message)?.[1] : undefined;
}

/** A record was written by a later version of this program; the processes of that version take care of it. */
class NewerRecordError extends Error {
  override readonly name = 'NewerRecordError';
}

/** Stops at a record of a later version: a process that cannot read it must neither change nor quarantine it. */
export function refuseNewer(what: string, version: string | undefined, known: number): void {
  if (version === undefined || !/^\d{1,9}$/.test(version) || Number(version) <= known) return;
  throw new NewerRecordError(
    `${what} was written by a later version of Countersign (${version}; this one knows ${known}). Bring this process up to date.`,
  );
}
