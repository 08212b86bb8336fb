import { z } from 'zod';
import { OUTCOME_UNKNOWN } from '../agent/calls/journal.ts';
import type { Interrupt } from '../agent/messages.ts';
import { DEFAULT_POLICY_NAME } from '../policy/policy.ts';
import type { RequestRecord } from '../store/port/store.ts';
import { askQuestion, completeTask, PROPOSE_PLAN, requestForm, waitForCallback } from '../tools/built-ins.ts';
import { type Approval, approvalOf } from '../tools/gate.ts';
import { consentOf } from '../tools/mcp/auth/ask-for-consent.ts';
import { elicitationOf } from '../tools/mcp/server-pause.ts';

const CallbackPause = z.object({ awaited: z.string() });

/** Stands in place of a rule where a tool paused by itself. */
export const OWN_RULE = 'the tool itself asks';

/** A kind of request that people or systems answer. */
export type AnswerKind = Exclude<RequestRecord['kind'], 'approval'>;

/** The kind of a pause. `own` means that the tool paused by itself, behind its gate. */
export type InterruptKind =
  | (Approval & { readonly kind: 'approval'; readonly own: boolean })
  | { readonly kind: AnswerKind }
  | { readonly kind: 'exit' }
  /** One approval for several calls of the same round. */
  | { readonly kind: 'plan' }
  /** The call ran without approval, and nobody knows whether it took effect. */
  | { readonly kind: 'unknown' };

/** Classifies an interrupt. A tool's own pause without details is an approval by the default policy. */
export function classifyInterrupt(interrupt: Interrupt): InterruptKind {
  if (interrupt.metadata?.[OUTCOME_UNKNOWN] !== undefined) return { kind: 'unknown' };
  if (interrupt.toolRequest.name === PROPOSE_PLAN) return { kind: 'plan' };
  const approval = approvalOf(interrupt);
  if (approval !== undefined) return { kind: 'approval', ...approval, own: false };
  if ((consentOf(interrupt) ?? elicitationOf(interrupt)) !== undefined) return { kind: 'form' };
  if (askQuestion.matches(interrupt)) return { kind: 'question' };
  if (requestForm.matches(interrupt)) return { kind: 'form' };
  if (waitForCallback.matches(interrupt)) return { kind: 'callback' };
  if (completeTask.matches(interrupt)) return { kind: 'exit' };
  if (CallbackPause.safeParse(interrupt.metadata?.callback).success) return { kind: 'callback' };
  return { kind: 'approval', policy: DEFAULT_POLICY_NAME, rule: OWN_RULE, own: true };
}
