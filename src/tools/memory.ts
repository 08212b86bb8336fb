import { z } from 'zod';
import { defineTool } from '../agent/define-tool.ts';
import type { Tool } from '../agent/tool.ts';
import { findLiteralSecrets } from './manifest/checks/literal-secrets.ts';
import type { Secrets } from './secrets.ts';

/** Bounds what the notes about a channel add to the model's input. */
export const MAX_NOTES = 20;
export const MAX_NOTE_LENGTH = 300;

/** The name of the built-in that keeps notes. */
export const REMEMBER = 'remember';

/** The part of a call's context with which a note is kept; the caller of `generate` brings it. */
export interface MemoryContext {
  /** Keeps a note about the channel of the call, once for each id; `full` means that there are too many. */
  readonly remember: (id: string, note: string) => Promise<'remembered' | 'full'>;
}

const Remembering = z.object({
  remember: z.custom<MemoryContext['remember']>((value) => typeof value === 'function'),
});

/** Builds the tool with which the model keeps a note about its channel. A note that holds a secret is refused. */
export function rememberTool(isSecret: (text: string) => boolean): Tool {
  return defineTool(
    {
      name: REMEMBER,
      description: `Keep a short note about this channel for later tasks, such as a habit or a preference of its people. Everybody in the channel can read and remove it. Never write down secrets, personal data or permissions. A channel has at most ${MAX_NOTES} notes.`,
      inputSchema: z.object({
        note: z.string().trim().min(1).max(MAX_NOTE_LENGTH).describe('the note, in one or two sentences'),
      }),
      outputSchema: z.object({ remembered: z.literal(true) }),
      effect: 'idempotent',
      title: () => 'Keep a note about this channel',
      done: () => 'Kept a note about this channel',
      fields: ({ note }) => ({ Note: note }),
    },
    async ({ note }, { context, deny, idempotencyKey }) => {
      if (isSecret(note)) return deny('A note must not hold a password, a key or a token.');
      const { data } = Remembering.safeParse(context);
      if (data === undefined) return deny('Notes cannot be kept here.');
      const outcome = await data.remember(idempotencyKey, note);
      if (outcome === 'full')
        return deny(
          `This channel has ${MAX_NOTES} notes already. People can remove some with /countersign memory.`,
        );
      return { remembered: true as const };
    },
  );
}

/** Tells whether a text holds a secret of this process, or something that looks like a token of a well-known service or a password. */
export function holdsSecret(text: string, secrets: Secrets): boolean {
  return secrets.redact(text) !== text || findLiteralSecrets(text).length > 0 || PASSWORD.test(text);
}

const PASSWORD = /\b(?:pass(?:word|wd|phrase)?|secret|api[ _-]?key|token|pin)\b\s*(?:is|=|:)\s*\S/i;
