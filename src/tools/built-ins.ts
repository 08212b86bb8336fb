import { z } from 'zod';
import { defineInterrupt, defineTool } from '../agent/define-tool.ts';
import { isDeeperThan, isJsonObject } from '../agent/json.ts';
import type { Tool } from '../agent/tool.ts';
import { findLiteralSecrets, type Secrets } from './secrets.ts';

const MAX_SCHEMA_LENGTH = 20_000;
const MAX_SCHEMA_DEPTH = 20;

/**
 * A JSON Schema that the model writes. It is short, and it has no regular expressions: a bad one can block the process on a bad
 * answer.
 */
const ModelSchema = z
  .record(z.string(), z.unknown())
  .refine(
    (schema) => !isDeeperThan(MAX_SCHEMA_DEPTH, schema),
    `must not be nested more than ${MAX_SCHEMA_DEPTH} levels deep`,
  )
  .refine(isShort, `must not have more than ${MAX_SCHEMA_LENGTH} characters`)
  .refine((schema) => !hasPattern(schema), 'must not use "pattern" or "patternProperties"');

// Zod runs this check even if the one before it has failed.
function isShort(schema: unknown): boolean {
  return isDeeperThan(MAX_SCHEMA_DEPTH, schema) || JSON.stringify(schema).length <= MAX_SCHEMA_LENGTH;
}

/** Tells a keyword from a property that is called `pattern`: the latter is an object. */
function hasPattern(schema: unknown, depth = 0): boolean {
  if (depth > MAX_SCHEMA_DEPTH || typeof schema !== 'object' || schema === null) return false;
  if (isJsonObject(schema) && (typeof schema.pattern === 'string' || schema.patternProperties !== undefined))
    return true;
  return Object.values(schema).some((part) => hasPattern(part, depth + 1));
}

/** Lets the model ask the person it works for; the loop waits for the answer. */
export const askQuestion = defineInterrupt({
  name: 'ask_question',
  description: 'Ask the user a clarifying question and wait for the answer.',
  inputSchema: z.object({
    question: z.string().min(1).describe('what to ask'),
    choices: z.array(z.string().min(1)).max(100).default([]).describe('the choices to display to the user'),
    allowOther: z.boolean().default(false).describe('when true, allow write-ins'),
    several: z.boolean().default(false).describe('when true, several choices may be taken together'),
  }),
  outputSchema: z.union([z.string(), z.array(z.string())]),
});

/** Lets the model ask for several values at once; the loop waits for the submitted form. */
export const requestForm = defineInterrupt({
  name: 'request_form',
  description: 'Ask the user to fill in a form and wait for the values.',
  inputSchema: z.object({
    title: z.string().min(1).describe('what the form is for'),
    fields: ModelSchema.describe(
      'a JSON Schema of type object, without patterns; its properties become the fields of the form',
    ),
  }),
  outputSchema: z.record(z.string(), z.unknown()),
});

/** Lets the model wait for an external system; a signed callback brings the result, even days later. */
export const waitForCallback = defineInterrupt({
  name: 'wait_for_callback',
  description: 'Wait until an outside system reports back. Use it after starting work that ends elsewhere.',
  inputSchema: z.object({
    awaited: z.string().min(1).describe('what is awaited, in words for people'),
    result: ModelSchema.optional().describe(
      'a JSON Schema, without patterns, that the reported result must fit',
    ),
  }),
  outputSchema: z.unknown(),
});

/** Lets the model declare the task complete with a structured result; the loop ends there. */
export const completeTask = defineInterrupt({
  name: 'complete_task',
  description:
    'Declare the task complete. Call it once, when everything asked for is done or cannot be done.',
  inputSchema: z.object({
    outcome: z.enum(['done', 'partly-done', 'not-done']),
    summary: z.string().min(1).describe('what was done, in one or two sentences'),
    result: z.record(z.string(), z.unknown()).optional().describe('the result as data'),
  }),
  outputSchema: z.object({ recorded: z.literal(true) }),
});

/** The interrupts that every agent has unless the manifest switches them off. */
export const builtIns: readonly Tool[] = [askQuestion, requestForm, waitForCallback, completeTask];

/** Bounds what the notes about a channel add to the model's input. */
export const MAX_NOTES = 20;
const MAX_NOTE_LENGTH = 300;

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
