import { askPerson } from '../ask-question.ts';
import { tellClosed } from '../describe-outcome.ts';
import { quotedIn } from '../parse-text.ts';
import { call, latest, type Scene, say } from '../rule.ts';

const NAMED = /([\w-][\w./-]*\.(?:md|txt))\b/i;

/** Writes a file through the MCP server of the manifest, which has to be signed. */
export const writeFile: Scene = {
  example: 'Write "Water the plants" into todo.txt.',
  takes: [/\b(?:write|save|note)\b.*\.(?:md|txt)\b/i],

  play({ words, steps, ruleFor }) {
    const [, path = 'notes.md'] = NAMED.exec(words) ?? [];
    const known = quotedIn(words);
    const question = { question: `What should ${path} say?`, choices: [] };
    const asked = known === undefined ? askPerson(steps, question) : { answer: known };
    if ('move' in asked) return asked.move;

    const written = latest(steps, 'write_file');
    if (written === undefined)
      return call(
        { name: 'write_file', arguments: { path, content: `${asked.answer}\n` } },
        `I ask to write ${path}.`,
        ruleFor('write_file'),
      );
    if (written.outcome.kind === 'closed') return say(tellClosed(`writing ${path}`, written.outcome));
    return say(`${path} is written.`);
  },
};
