import { ORDERS } from '../../examples/shop/orders.ts';
import type { Question } from './ask-question.ts';

/** The numbers of all orders of the shop. */
export const SAMPLE_ORDERS = ORDERS.map(({ id }) => id);

export const WHICH_ORDER: Question = { question: 'Which order was it?', choices: SAMPLE_ORDERS };
