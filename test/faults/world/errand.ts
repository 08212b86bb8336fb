import { randomUUID } from 'node:crypto';

/** The plan of an errand's people for its requests. */
export type Intent =
  | 'approve'
  | 'allow'
  | 'both-approve'
  | 'edit-and-approve'
  | 'wait-and-approve'
  | 'reject'
  | 'ignore'
  | 'withdraw'
  | 'answer'
  | 'stop'
  | 'race'
  | 'sign-and-withdraw'
  | 'crowd'
  | 'crowd-at-expiry';

/** One thing that somebody asks for in a thread of its own, and what is meant to become of it. */
export interface Errand {
  readonly kind: string;
  readonly hurries: boolean;
  readonly calls: readonly { readonly tool: string; readonly token: string; readonly amount: number }[];
  /** Whether the calls are asked for as one plan. */
  readonly together: boolean;
  /** Asked for by a caller through the door, in run or in ask mode. */
  readonly through?: 'run' | 'ask' | undefined;
  readonly intent: Intent;
  readonly channel: string;
  /** The ts of what was said; empty until it was. */
  ts: string;
}

export interface Recipe {
  readonly kind: string;
  /** Says something more while the bot is at it. */
  readonly hurries?: boolean;
  readonly tools: readonly string[];
  /** Whether the calls are asked for as one plan. */
  readonly together?: boolean;
  readonly through?: 'run' | 'ask';
  readonly intent: Intent;
}

/** Every way through the state machine. */
export const RECIPES: readonly Recipe[] = [
  { kind: 'signed charge', tools: ['charge'], intent: 'approve' },
  { kind: 'signed credit', tools: ['credit'], intent: 'approve' },
  { kind: 'hurried while the model thinks', tools: ['charge'], intent: 'approve', hurries: true },
  { kind: 'two signatures', tools: ['erase'], intent: 'both-approve' },
  { kind: 'two calls at once', tools: ['charge', 'credit'], intent: 'approve' },
  { kind: 'rejected', tools: ['charge'], intent: 'reject' },
  { kind: 'withdrawn', tools: ['charge'], intent: 'withdraw' },
  { kind: 'signed by one of two, then withdrawn', tools: ['erase'], intent: 'sign-and-withdraw' },
  { kind: 'expired', tools: ['lapse'], intent: 'ignore' },
  { kind: 'approved and rejected at once', tools: ['charge'], intent: 'race' },
  { kind: 'edited, then signed', tools: ['charge'], intent: 'edit-and-approve' },
  { kind: 'reminded, escalated, then signed', tools: ['linger'], intent: 'wait-and-approve' },
  { kind: 'outcome in doubt', tools: ['waver'], intent: 'approve' },
  { kind: 'a question', tools: ['ask'], intent: 'answer' },
  { kind: 'stopped', tools: ['charge'], intent: 'stop' },
];

/** The ways of a call that needs no approval. */
export const UNSIGNED_RECIPES: readonly Recipe[] = [
  { kind: 'unsigned once', tools: ['note'], intent: 'approve' },
  { kind: 'unsigned idempotent', tools: ['mark'], intent: 'approve' },
  { kind: 'two unsigned calls at once', tools: ['note', 'mark'], intent: 'approve' },
  { kind: 'unsigned beside signed', tools: ['note', 'credit'], intent: 'approve' },
  { kind: 'unsigned, thrown after its effect', tools: ['falter'], intent: 'approve' },
  { kind: 'unsigned, an answer that cannot be read', tools: ['garble'], intent: 'approve' },
];

/** The ways of a call under a limit, a grant or a delegation: some who approve allow the same again, or sign for somebody else. */
export const POLICY_RECIPES: readonly Recipe[] = [
  { kind: 'under a limit', tools: ['capped'], intent: 'approve' },
  { kind: 'allowed again', tools: ['favored'], intent: 'allow' },
  { kind: 'under a limit beside a grant', tools: ['capped', 'favored'], intent: 'approve' },
  { kind: 'under a grant', tools: ['favored'], intent: 'approve' },
  { kind: 'signed for somebody who is away', tools: ['deputed'], intent: 'approve' },
];

/** The ways of an action that needs the passkey of its approver, beside others. */
export const PASSKEY_RECIPES: readonly Recipe[] = [
  { kind: 'signed with a passkey', tools: ['sealed'], intent: 'approve' },
  { kind: 'two signed with a passkey', tools: ['sealed', 'sealed'], intent: 'approve' },
  { kind: 'a passkey beside a click', tools: ['sealed', 'charge'], intent: 'approve' },
];

/** Plans of five steps, which end as they were approved, or are given up halfway. */
export const PLAN_RECIPES: readonly Recipe[] = [
  {
    kind: 'a plan of five',
    tools: ['charge', 'credit', 'charge', 'credit', 'charge'],
    together: true,
    // The tools name their approvers in two ways, so both are needed.
    intent: 'both-approve',
  },
  {
    kind: 'a plan of five with a step in doubt',
    tools: ['credit', 'charge', 'waver', 'credit', 'charge'],
    together: true,
    // The tools name their approvers in two ways, so both are needed.
    intent: 'both-approve',
  },
];

/** The ways of a caller: what the bot runs for it, and what it runs itself. */
export const CALLER_RECIPES: readonly Recipe[] = [
  { kind: 'a run of a caller', tools: ['charge'], through: 'run', intent: 'approve' },
  { kind: 'an ask of a caller', tools: ['charge'], through: 'ask', intent: 'approve' },
  { kind: 'an idempotent run of a caller', tools: ['credit'], through: 'run', intent: 'approve' },
  { kind: 'a rejected ask of a caller', tools: ['charge'], through: 'ask', intent: 'reject' },
];

/** The crowds of one millisecond: five people or twenty, among themselves or against the expiry. */
export const CROWD_RECIPES = {
  'five at once': { kind: 'five at once', tools: ['quintet'], intent: 'crowd' },
  'twenty at once': { kind: 'twenty at once', tools: ['score'], intent: 'crowd' },
  'five as it expires': { kind: 'five as it expires', tools: ['brief-quintet'], intent: 'crowd-at-expiry' },
  'twenty as it expires': { kind: 'twenty as it expires', tools: ['brief-score'], intent: 'crowd-at-expiry' },
} satisfies Record<string, Recipe>;

/** Makes the next errand of a recipe; no two errands share a token, and no two amounts an end. */
export function makeErrand(
  { kind, tools, intent, through, hurries = false, together = false }: Recipe,
  channel: string,
): Errand {
  const calls = tools.map((tool) => ({
    tool,
    token: `tok-${randomUUID()}`,
    amount: 100_000 + Math.floor(Math.random() * 800_000),
  }));
  return { kind, hurries, together, through, calls, intent, channel, ts: '' };
}

/** The amount after a person's edit. */
export function editedAmount(amount: number): number {
  return amount + 1_000_000;
}

export function wordsOf({ calls, together }: Errand): string {
  const orders = calls.map(({ tool, token, amount }) => `${tool} ${token} ${amount}`).join('; ');
  return together ? `together: ${orders}` : orders;
}
