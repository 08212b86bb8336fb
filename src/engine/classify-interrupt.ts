import { OUTCOME_UNKNOWN } from '../agent/calls/journal.ts';
import type { Interrupt } from '../agent/messages.ts';
import { DEFAULT_POLICY_NAME } from '../policy/policy.ts';
import { completeTask, PROPOSE_PLAN } from '../tools/built-ins.ts';
import { type Approval, approvalOf } from '../tools/gate.ts';
import { consentOf } from '../tools/mcp/auth/ask-for-consent.ts';
import { elicitationOf } from '../tools/mcp/server-pause.ts';
import { type Ask, askOf } from '../tools/pause.ts';

/** Stands in place of a rule where a tool paused by itself. */
export const OWN_RULE = 'the tool itself asks';

/** The kind of a pause. `own` means that the tool paused by itself, behind its gate. */
export type InterruptKind =
  | (Approval & { readonly kind: 'approval'; readonly own: boolean })
  /** One answer of a person or a system. */
  | { readonly kind: 'answer' }
  | { readonly kind: 'exit' }
  /** One approval for several calls of the same round. */
  | { readonly kind: 'plan' }
  /** The call ran without approval, and nobody knows whether it took effect. */
  | { readonly kind: 'unknown' };

/** Classifies an interrupt by what is written down with it. A pause that says nothing is an approval by the default policy. */
export function classifyInterrupt(interrupt: Interrupt): InterruptKind {
  if (interrupt.metadata?.[OUTCOME_UNKNOWN] !== undefined) return { kind: 'unknown' };
  if (interrupt.toolRequest.name === PROPOSE_PLAN) return { kind: 'plan' };
  const approval = approvalOf(interrupt);
  if (approval !== undefined) return { kind: 'approval', ...approval, own: false };
  if ((consentOf(interrupt) ?? elicitationOf(interrupt)) !== undefined) return { kind: 'answer' };
  if (completeTask.matches(interrupt)) return { kind: 'exit' };
  const ask = askOf(interrupt);
  if (ask === undefined) return decidedUnder(DEFAULT_POLICY_NAME);
  const policy = typeof ask.by === 'object' && isVotedOn(ask) ? ask.by.policy : undefined;
  return policy === undefined ? { kind: 'answer' } : decidedUnder(policy);
}

/** Tells whether approvers decide about an ask by votes: a yes or no, or a choice among what the tool offers. */
function isVotedOn({ way }: Ask): boolean {
  return way.kind === 'confirm' || (way.kind === 'choice' && way.choices.length > 0 && !way.several);
}

function decidedUnder(policy: string): InterruptKind {
  return { kind: 'approval', policy, rule: OWN_RULE, own: true };
}
