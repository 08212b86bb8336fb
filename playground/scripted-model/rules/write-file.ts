import { askQuestion } from '../ask-question.ts';
import { describeOutcome } from '../describe-outcome.ts';
import { parseQuoted } from '../parse-text.ts';
import { callTools, latestCall, type Rule, reply } from '../rule.ts';

const NAMED = /([\w-][\w./-]*\.(?:md|txt))\b/i;

/** Writes a file through the manifest's MCP server, which needs approval. */
export const writeFile: Rule = {
  example: 'Write "Water the plants" into todo.txt.',
  tool: 'write_file',
  patterns: [/\b(?:write|save|note)\b.*\.(?:md|txt)\b/i],

  next({ text, calls, approvalNote }) {
    const [, path = 'notes.md'] = NAMED.exec(text) ?? [];
    const known = parseQuoted(text);
    const question = { question: `What should ${path} say?`, choices: [] };
    const asked = known === undefined ? askQuestion(calls, question) : { answer: known };
    if ('step' in asked) return asked.step;

    const written = latestCall(calls, 'write_file');
    if (written === undefined)
      return callTools(
        { name: 'write_file', arguments: { path, content: `${asked.answer}\n` } },
        `I'd like to write ${path}.`,
        approvalNote('write_file'),
      );
    if (written.outcome.kind === 'closed') return reply(describeOutcome(`writing ${path}`, written.outcome));
    return reply(`Wrote ${path}.`);
  },
};
