import { z } from 'zod';
import { askQuestion, type Question } from '../ask-question.ts';
import { describeOutcome } from '../describe-outcome.ts';
import { parseQuoted } from '../parse-text.ts';
import { callTools, latestCall, type Rule, reply } from '../rule.ts';

const WHAT_TO_SAY: Question = { question: 'What should the status page say?', choices: [] };
const Published = z.object({ published: z.string() });

/** Publishes a line on the status page, which must be approved within 45 seconds in the shipped manifest. */
export const publishStatus: Rule = {
  example: 'Please publish on the status page: "Payments are slow, we are on it."',
  tool: 'publish_status',
  patterns: [/\bstatus page\b/i, /\b(?:publish|post|announce)\b.*\bstatus\b/i],

  next({ text, calls, approvalNote }) {
    const known = parseQuoted(text);
    const asked = known === undefined ? askQuestion(calls, WHAT_TO_SAY) : { answer: known };
    if ('step' in asked) return asked.step;

    const publication = latestCall(calls, 'publish_status');
    if (publication === undefined)
      return callTools(
        { name: 'publish_status', arguments: { line: asked.answer } },
        "I'd like to publish that line.",
        approvalNote('publish_status'),
      );
    if (publication.outcome.kind === 'closed')
      return reply(describeOutcome('the line for the status page', publication.outcome));
    const { published } = Published.parse(publication.outcome.output);
    return reply(`The status page now says: “${published}”`);
  },
};
