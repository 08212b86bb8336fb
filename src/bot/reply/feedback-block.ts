import type { ContextActionsBlock } from '@slack/types';
import { z } from 'zod';
import { FEEDBACK } from '../cards/action-ids.ts';
import { plain } from '../cards/card.ts';
import { replyTexts } from '../texts/replies.ts';

const Rated = z
  .string()
  .transform((value) => value.split(' '))
  .pipe(z.tuple([z.enum(['good', 'bad']), z.string(), z.string()]))
  .transform(([verdict, threadId, answer]) => ({ verdict, threadId, answer }));

/** Builds the buttons with which people say whether an answer helped; `answer` is its thread and its id in it. */
export function feedbackBlock(answer: string): ContextActionsBlock {
  const button = (verdict: 'good' | 'bad') => ({
    text: plain(replyTexts.feedback[verdict]),
    accessibility_label: replyTexts.feedback[verdict],
    value: `${verdict} ${answer}`,
  });
  return {
    type: 'context_actions',
    elements: [
      {
        type: 'feedback_buttons',
        action_id: FEEDBACK,
        positive_button: button('good'),
        negative_button: button('bad'),
      },
    ],
  };
}

/** Reads the value of a feedback button; `undefined` if it is none. */
export function parseFeedback(value: unknown): z.output<typeof Rated> | undefined {
  return Rated.safeParse(value).data;
}
