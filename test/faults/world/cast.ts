import {
  APPROVERS_GROUP,
  CAST,
  CHANNELS as CHANNEL_IDS,
  type ChannelSeed,
  DEFAULT_CHANNELS,
  DEFAULT_USER_GROUPS,
  DEFAULT_USERS,
  type UserGroupSeed,
  type UserSeed,
} from '../../../playground/slack/default-cast.ts';

export const FIVE_GROUP = 'S0FIVE0001';
export const TWENTY_GROUP = 'S0TWENTY01';

/** The twenty people of the crowd; the first five are a group of their own. */
export const CROWD = Array.from(
  { length: 20 },
  (_, index) => `U0CROWD0${String(index + 1).padStart(2, '0')}`,
);
const FIVE = CROWD.slice(0, 5);

export const USERS: readonly UserSeed[] = [
  ...DEFAULT_USERS,
  ...CROWD.map((id, index) => ({ id, name: `signer-${index + 1}` })),
];

export const CHANNELS: readonly ChannelSeed[] = DEFAULT_CHANNELS.map((channel) =>
  channel.id === CHANNEL_IDS.general ? { ...channel, members: [...channel.members, ...CROWD] } : channel,
);

export const USER_GROUPS: readonly UserGroupSeed[] = [
  ...DEFAULT_USER_GROUPS,
  { id: FIVE_GROUP, handle: 'five', name: 'Five', users: FIVE },
  { id: TWENTY_GROUP, handle: 'twenty', name: 'Twenty', users: CROWD },
];

/** The approvers of each tool, its quorum and its expiry. */
export interface Rule {
  readonly approvers: readonly string[];
  readonly signers: readonly string[];
  readonly quorum: number;
  readonly expiresMs: number;
}

const pair = { approvers: [APPROVERS_GROUP], signers: [CAST.alice, CAST.bruno] };
const named = { ...pair, approvers: pair.signers };
const five = { approvers: [FIVE_GROUP], signers: FIVE };
const twenty = { approvers: [TWENTY_GROUP], signers: CROWD };
const LONG_MS = 600_000;
const BRIEF_MS = 2_000;
/** Long enough for a crowd to gather on a busy machine. */
const FOR_A_CROWD_MS = 6_000;

/** The tools that run without approval, and the effect that they declare. */
export const UNSIGNED: Readonly<Record<string, 'once' | 'idempotent'>> = {
  note: 'once',
  mark: 'idempotent',
  /** Takes effect, and throws. */
  falter: 'once',
  /** Takes effect, and answers with something that nobody can read. */
  garble: 'once',
  /** Only so many of these run in an hour. */
  capped: 'once',
};
/** The most effects of `capped`, and the uses of a grant for `favored`. */
export const MOST_CAPPED = 15;
export const GRANTED_USES = 3;

/** One tool for each way in which an action can be signed or run; the manifest and the checkers both follow from this. */
export const RULES: Readonly<Record<string, Rule>> = {
  /** Takes effect at every run, so that a second run is seen; its approvers are named, so that one signature is one step. */
  charge: { ...named, quorum: 1, expiresMs: LONG_MS },
  /** Takes effect once a key, however often it is tried. */
  credit: { ...pair, quorum: 1, expiresMs: LONG_MS },
  erase: { ...pair, quorum: 2, expiresMs: LONG_MS },
  /** Is over before anybody has signed it. */
  lapse: { ...pair, quorum: 1, expiresMs: BRIEF_MS },
  /** Its approvers are reminded, then others are asked. */
  linger: { ...pair, signers: [...pair.signers, CAST.admin], quorum: 1, expiresMs: LONG_MS },
  /** Takes effect, and cannot tell whether it did. */
  waver: { ...pair, quorum: 1, expiresMs: LONG_MS },
  /** May be allowed again by those who approve it. */
  favored: { ...named, quorum: 1, expiresMs: LONG_MS },
  /** Its approver is away now and then, and somebody else signs for them. */
  deputed: { approvers: [CAST.bruno], signers: [CAST.alice], quorum: 1, expiresMs: LONG_MS },
  /** Needs the passkey of its approver. */
  sealed: { approvers: [CAST.alice], signers: [CAST.alice], quorum: 1, expiresMs: LONG_MS },
  quintet: { ...five, quorum: 3, expiresMs: LONG_MS },
  score: { ...twenty, quorum: 5, expiresMs: LONG_MS },
  'brief-quintet': { ...five, quorum: 3, expiresMs: FOR_A_CROWD_MS },
  'brief-score': { ...twenty, quorum: 5, expiresMs: FOR_A_CROWD_MS },
};
