import { z } from 'zod';
import { askPerson, type Question } from '../ask-question.ts';
import { tellClosed } from '../describe-outcome.ts';
import { quotedIn } from '../parse-text.ts';
import { call, latest, type Scene, say } from '../rule.ts';

const WHAT_TO_SAY: Question = { question: 'What should the status page say?', choices: [] };
const Published = z.object({ published: z.string() });

/** Asks to publish a line on the status page; by the shipped manifest that has to be signed within 45 seconds. */
export const publishStatus: Scene = {
  example: 'Please publish on the status page: "Payments are slow, we are on it."',
  takes: [/\bstatus page\b/i, /\b(?:publish|post|announce)\b.*\bstatus\b/i],

  play({ words, steps, ruleFor }) {
    const known = quotedIn(words);
    const asked = known === undefined ? askPerson(steps, WHAT_TO_SAY) : { answer: known };
    if ('move' in asked) return asked.move;

    const publication = latest(steps, 'publish_status');
    if (publication === undefined)
      return call(
        { name: 'publish_status', arguments: { line: asked.answer } },
        'I ask to publish that line.',
        ruleFor('publish_status'),
      );
    if (publication.outcome.kind === 'closed')
      return say(tellClosed('the line for the status page', publication.outcome));
    const { published } = Published.parse(publication.outcome.output);
    return say(`The status page now says: “${published}”`);
  },
};
