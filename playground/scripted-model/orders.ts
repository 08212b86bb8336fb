import { z } from 'zod';
import type { Question } from './ask-question.ts';

/** An order as `read_order` gives it. */
export const Order = z.object({
  id: z.string(),
  customer: z.string(),
  item: z.string(),
  amount: z.number(),
  refunded: z.number(),
});

/** The initial orders of the sample shop. */
export const SAMPLE_ORDERS = ['A-1001', 'A-1002', 'A-1003', 'A-1004'];

export const WHICH_ORDER: Question = { question: 'Which order was it?', choices: SAMPLE_ORDERS };
