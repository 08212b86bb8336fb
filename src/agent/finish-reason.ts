import { z } from 'zod';

const UnbrokenFinish = z.enum([
  'stop',
  'interrupted',
  'length',
  'max-steps',
  'content-filter',
  'refusal',
  'cut-stream',
  'empty-choice',
  'aborted',
]);
/** The ways in which the loop ends with a model that answers. */
export type UnbrokenFinish = z.infer<typeof UnbrokenFinish>;

/** How the loop ended. `model-error` comes with an `error`; whatever ran before it is in the messages. */
export const FinishReason = z.enum([...UnbrokenFinish.options, 'model-error']);
export type FinishReason = z.infer<typeof FinishReason>;
