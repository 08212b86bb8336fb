import { z } from 'zod';

const PresentedField = z.object({
  label: z.string(),
  text: z.string(),
  format: z.string().optional(),
  /** The argument that the field shows as it is. */
  argument: z.string().optional(),
  /** Whether the title tells the same value, exactly and in the same format. */
  isInTitle: z.literal(true).optional(),
});

/** A call in words, made with its request. */
export const PresentedCall = z.object({
  title: z.string(),
  done: z.string().optional(),
  target: z.string().optional(),
  fields: z.array(PresentedField),
  hasTitle: z.boolean(),
  isComplete: z.boolean(),
});
export type PresentedCall = z.infer<typeof PresentedCall>;
