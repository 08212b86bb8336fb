import { compileExpression } from './condition.ts';
import type { JudgedCall } from './strictest.ts';

export const RISK_LEVELS = ['low', 'medium', 'high'] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

/** The risk of the calls under a policy: one level, or a CEL expression that gives the level of each call. */
export type Risk = RiskLevel | { readonly expression: string };

export function isRiskLevel(value: unknown): value is RiskLevel {
  return RISK_LEVELS.some((level) => level === value);
}

/** Parses a risk as the manifest writes it. */
export function toRisk(written: string): Risk {
  return isRiskLevel(written) ? written : { expression: written };
}

export function mayBeHigh(risk: Risk): boolean {
  return risk === 'high' || typeof risk === 'object';
}

const compiled = new Map<string, ReturnType<typeof compileExpression>>();

/**
 * Returns the risk of a call. An expression is evaluated for each requester, and the highest result counts; one that cannot be
 * evaluated, or gives no level, means high.
 */
export function riskOf(risk: Risk, { requesters, ...call }: JudgedCall): RiskLevel {
  if (typeof risk === 'string') return risk;
  const evaluate = compiled.get(risk.expression) ?? compileExpression(risk.expression);
  compiled.set(risk.expression, evaluate);
  const levels = (requesters.length === 0 ? [''] : requesters).map((requester) => {
    const result = evaluate({ ...call, requesters, requester });
    return 'value' in result && isRiskLevel(result.value) ? result.value : 'high';
  });
  return RISK_LEVELS.findLast((level) => levels.includes(level)) ?? 'high';
}
