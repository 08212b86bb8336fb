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

export const DEFAULT_TIMING: Timing = {
  silenceMs: 30_000,
  beatMs: 2_000,
  leaseMs: 30_000,
  renewMs: 2_000,
  claimMs: 30_000,
};
