import { chosenChoice, votedChoices } from '../../../engine/choices.ts';
import { planDigest } from '../../../engine/plans.ts';
import { readDetails } from '../../../engine/request-details.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { Vote } from '../../../store/port/values.ts';

/** Returns the steps of a plan, or the choice, that a person chooses, with the digest of the request with it; `undefined` if it has it already. */
export function chosenIn(request: RequestRecord, picked: readonly number[] | undefined): Vote['chosen'] {
  const { steps: own = [] } = request;
  const details = readDetails(request);
  if (details?.facets.plan === undefined) return chosenChoice(request, picked);
  if (picked === undefined) return undefined;
  const steps = own.filter(({ number, alone }) => !alone && picked.includes(number));
  const isSame = own.every((step) => step.alone || step.isChosen === steps.includes(step));
  if (steps.length === 0 || isSame) return undefined;
  const numbers = own.filter((step) => step.alone || steps.includes(step)).map(({ number }) => number);
  return { steps: steps.map(({ number }) => number), digest: planDigest(details.shown ?? '', own, numbers) };
}

/** Tells whether a plan still has the steps that the person saw, and whether a request with choices has one. */
export function isAsShown(request: RequestRecord, shown: string | undefined): boolean {
  const { steps = [], digest, chosen } = request;
  if (shown !== undefined) return digest.startsWith(shown);
  const interrupt = readDetails(request)?.interrupt;
  const hasChoices = interrupt !== undefined && votedChoices(interrupt).length > 0;
  return hasChoices ? chosen !== undefined : steps.every(({ isChosen }) => isChosen);
}
