import { LimitShown } from '../planned-steps.ts';
import type { Facet } from './facet.ts';

/** The number of steps of a plan that fit a limit, if not all did when the plan was made. */
export const limits = {
  name: 'limits',
  schema: LimitShown,
  prepare: ({ approval }) => approval?.part?.plan?.fits,
} satisfies Facet<'limits', LimitShown>;
