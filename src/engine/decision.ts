import { z } from 'zod';
import { Json } from '../agent/json-schema.ts';
import { Assertion } from './passkeys.ts';

/** A decision of a person, as a click or a submitted modal states it. */
export const Decision = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('approve'),
    grants: z.boolean().optional(),
    /** A comment. */
    reason: z.string().optional(),
    /** The steps of a plan that the person leaves in it, by number. */
    steps: z.array(z.number()).optional(),
    /** The beginning of the digest of the plan that the card showed. */
    shown: z.string().optional(),
    /** The answer of the person's passkey. */
    assertion: Assertion.optional(),
  }),
  z.object({ type: z.literal('reject'), reason: z.string() }),
  z.object({ type: z.literal('choose'), picked: z.array(z.number()) }),
  z.object({ type: z.literal('answer'), value: Json }),
  z.object({ type: z.literal('edit'), input: Json }),
  z.object({
    type: z.literal('resolve'),
    verdict: z.enum(['ran', 'did-not-run', 'run-again']),
    reason: z.string(),
    tries: z.number(),
  }),
  z.object({ type: z.literal('decline') }),
  z.object({ type: z.literal('withdraw') }),
  z.object({ type: z.literal('ask-again') }),
  z.object({ type: z.literal('show-address') }),
  z.object({ type: z.literal('undo') }),
]);
export type Decision = z.infer<typeof Decision>;

/** A decision with its request and its click. */
export const MadeDecision = z.object({
  requestId: z.string(),
  click: z.object({
    who: z.string(),
    id: z.string(),
    team: z.string().optional(),
    channel: z.string().optional(),
  }),
  decision: Decision,
});
export type MadeDecision = z.infer<typeof MadeDecision>;
