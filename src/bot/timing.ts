/** How long things are held and how often they are renewed, in milliseconds. */
export interface Timing {
  /** How long an action may run without a sign of life before it is given up. */
  readonly silenceMs: number;
  /** Between two signs of life of an action, each with its progress. */
  readonly beatMs: number;
  /** How long a turn holds its thread without renewing; it must be several times `renewMs`. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** How long a sender holds what it took from the outbox; after a crash it is sent that much later. */
  readonly claimMs: number;
}

/** The timing with which a process that died is noticed within so many seconds; a live one shows itself 15 times in between. */
export function timingFor(crashNoticeSeconds: number): Timing {
  const noticeMs = crashNoticeSeconds * 1_000;
  const signMs = Math.round(noticeMs / 15);
  return { silenceMs: noticeMs, beatMs: signMs, leaseMs: noticeMs, renewMs: signMs, claimMs: noticeMs };
}
