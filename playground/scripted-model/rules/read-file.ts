import { z } from 'zod';
import { tellClosed } from '../describe-outcome.ts';
import { call, latest, type Scene, say } from '../rule.ts';

const NAMED = /([\w-][\w./-]*\.(?:md|txt))\b/i;
const Content = z.object({ content: z.string() });

/** Reads a file through the MCP server of the manifest, which needs no signature. */
export const readFile: Scene = {
  example: 'Read notes.md.',
  takes: [/\b(?:read|show|open)\b.*\.(?:md|txt)\b/i, /\bwhat (?:is|stands) in\b.*\.(?:md|txt)\b/i],

  play({ words, steps }) {
    const [, path = 'notes.md'] = NAMED.exec(words) ?? [];
    const read = latest(steps, 'read_text_file');
    if (read === undefined) return call({ name: 'read_text_file', arguments: { path } });
    if (read.outcome.kind === 'closed') return say(tellClosed(`reading ${path}`, read.outcome));
    const { output } = read.outcome;
    const text = Content.safeParse(output).data?.content ?? JSON.stringify(output);
    return say(`${path} says:\n\`\`\`\n${text.trimEnd()}\n\`\`\``);
  },
};
