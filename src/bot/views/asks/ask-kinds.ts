import type { Interrupt } from '../../../agent/messages.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { approval } from './approval.ts';
import type { AskKind } from './ask-kind.ts';
import { callback } from './callback.ts';
import { consent } from './consent.ts';
import { elicitation } from './elicitation.ts';
import { form } from './form.ts';
import { outcome } from './outcome.ts';
import { plan } from './plan.ts';
import { question } from './question.ts';

/** Lists every kind of ask. The first whose pause it is counts; of those that are recorded alike the last is the usual one. */
export const ASK_KINDS: readonly AskKind[] = [
  outcome,
  plan,
  consent,
  elicitation,
  callback,
  form,
  question,
  approval,
];

/** Finds the kind of a pause. */
export function askKindFor(interrupt: Interrupt): AskKind {
  return ASK_KINDS.find(({ isOf }) => isOf(interrupt)) ?? approval;
}

/** Finds the kind of a request: the one of its pause, among those that the record takes answers of in the same way. */
export function askKindOf({ kind }: Pick<RequestRecord, 'kind'>, interrupt: Interrupt): AskKind {
  const alike = ASK_KINDS.filter(({ recordedAs }) => recordedAs === kind);
  return alike.find(({ isOf }) => isOf(interrupt)) ?? alike.at(-1) ?? approval;
}
