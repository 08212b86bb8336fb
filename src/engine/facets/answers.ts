import { z } from 'zod';
import { toJson } from '../../agent/json.ts';
import { approverOf } from '../../tools/gate.ts';
import { answerOf, elicitationOf } from '../../tools/mcp/server-pause.ts';
import { ownAnswerOf } from '../../tools/pause.ts';
import { type Facet, NOTHING } from './facet.ts';

/** The answer to its server, or to its own tool, with which a call goes on once it is approved. */
export const answer = {
  name: 'answer',
  schema: NOTHING,
  digested: (_kept, interrupt) => {
    const given = answerOf(interrupt) ?? ownAnswerOf(interrupt);
    return { answer: given && toJson(given) };
  },
  auditFields: ({ answer: given }) =>
    given === undefined ? {} : { answers: given.words, answered_by: [...given.by] },
} satisfies Facet<'answer', never>;

const Answers = z.enum(['approved', 'free']);

/** Whether answers to the server of a call are approved too before they are sent; missing for a call without a server. */
export const answers = {
  name: 'answers',
  schema: Answers,
  isOfStep: true,
  prepare: ({ interrupt, entry, isWhole }) => {
    const isOpen = elicitationOf(interrupt) === undefined ? isWhole : approverOf(interrupt) !== null;
    return isOpen ? entry?.answers : undefined;
  },
} satisfies Facet<'answers', z.infer<typeof Answers>>;
