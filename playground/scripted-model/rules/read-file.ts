import { z } from 'zod';
import { describeOutcome } from '../describe-outcome.ts';
import { callTools, latestCall, type Rule, reply } from '../rule.ts';

const NAMED = /([\w-][\w./-]*\.(?:md|txt))\b/i;
const Content = z.object({ content: z.string() });

/** Reads a file through the manifest's MCP server, without approval. */
export const readFile: Rule = {
  example: 'Read notes.md.',
  tool: 'read_text_file',
  patterns: [/\b(?:read|show|open)\b.*\.(?:md|txt)\b/i, /\bwhat (?:is|stands) in\b.*\.(?:md|txt)\b/i],

  next({ text, calls }) {
    const [, path = 'notes.md'] = NAMED.exec(text) ?? [];
    const read = latestCall(calls, 'read_text_file');
    if (read === undefined) return callTools({ name: 'read_text_file', arguments: { path } });
    if (read.outcome.kind === 'closed') return reply(describeOutcome(`reading ${path}`, read.outcome));
    const { output } = read.outcome;
    const content = Content.safeParse(output).data?.content ?? JSON.stringify(output);
    return reply(`${path} says:\n\`\`\`\n${content.trimEnd()}\n\`\`\``);
  },
};
