import { z } from 'zod';
import { type JsonObject, type JsonValue, toJson, tryParseJson } from '../../agent/json.ts';
import { JsonRecord } from '../../agent/json-schema.ts';
import type { Interrupt } from '../../agent/messages.ts';

/** The metadata key of a pause that a server asked for, and of the restart that ends it. */
export const SERVER_PAUSE = 'mcp';

/** A question of a server to a person: a form to fill in, or an address to open. */
export const ServerQuestion = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('form'), message: z.string(), schema: JsonRecord }),
  z.object({ mode: z.literal('url'), message: z.string(), url: z.string() }),
]);
export type ServerQuestion = z.infer<typeof ServerQuestion>;

/** The values of a form; the protocol allows no others. */
const Content = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/** A person's response to a question as the protocol has it. */
export const InputResponse = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: Content.optional(),
  _meta: JsonRecord.optional(),
});
export type InputResponse = z.infer<typeof InputResponse>;

/** A call of the current protocol that the server ended with questions; the retry carries all responses and the state. */
const CurrentCall = z.object({
  protocol: z.literal('current'),
  /** The questions that no person has answered yet, by the server's keys; the first is asked now. */
  open: z.array(z.object({ key: z.string(), question: ServerQuestion })).min(1),
  /** The questions whose responses are not sent yet, because others are open. */
  answered: z.array(z.object({ key: z.string(), question: ServerQuestion })),
  responses: z.record(z.string(), InputResponse),
  requestState: z.string().optional(),
  /** The digest of the state, which has to be sent back unchanged. */
  stateDigest: z.string().optional(),
});
export type CurrentCall = z.infer<typeof CurrentCall>;

/** A call of an older protocol that was told `cancel`; the retry starts anew and finds the responses by the digests of the questions. */
const OlderCall = z.object({
  protocol: z.literal('older'),
  /** The digest of the question that is asked now. */
  asked: z.string(),
  answers: z.array(z.object({ digest: z.string(), question: ServerQuestion, response: InputResponse })),
  /** The server's words at the end of the cancelled call. */
  ending: z.string(),
});
export type OlderCall = z.infer<typeof OlderCall>;

/** A call that its server runs as a task, which needs input; the responses are sent to the task, and the call is not made again. */
const TaskQuestions = CurrentCall.pick({ open: true, answered: true, responses: true }).extend({
  protocol: z.literal('task'),
  taskId: z.string().min(1),
  /** The keys of earlier questions, whose responses were sent; a task may still show them. */
  sent: z.array(z.string()),
  /** Sentences for the model about earlier questions. */
  notes: z.array(z.string()).optional(),
});
export type TaskQuestions = z.infer<typeof TaskQuestions>;

/** A pause of a call whose server needs input from a person. */
export const Elicitation = z.object({
  kind: z.literal('elicitation'),
  /** The name of the server in the manifest. */
  server: z.string(),
  /** The digest of the tool's definition that the call was made with. */
  definition: z.string(),
  question: ServerQuestion,
  call: z.discriminatedUnion('protocol', [CurrentCall, OlderCall, TaskQuestions]),
});
export type Elicitation = z.infer<typeof Elicitation>;

/** A pause of a call that its server runs as a task. It only puts the task on record: the call continues at once and follows the task. */
export const TaskPause = z.object({
  kind: z.literal('task'),
  server: z.string(),
  definition: z.string(),
  taskId: z.string().min(1),
  /** The keys of the task's questions that were answered so far. */
  answered: z.array(z.string()).optional(),
  /** Sentences for the model about these questions. */
  notes: z.array(z.string()).optional(),
});
export type TaskPause = z.infer<typeof TaskPause>;

const ServerPause = z.discriminatedUnion('kind', [Elicitation, TaskPause]);
type ServerPause = z.infer<typeof ServerPause>;

/** Returns the pause that a server caused; `undefined` for every other pause. */
export function serverPauseOf(interrupt: Pick<Interrupt, 'metadata'>): ServerPause | undefined {
  return ServerPause.safeParse(interrupt.metadata?.[SERVER_PAUSE]).data;
}

/** Returns the question that a call waits for, if its server asks one. */
export function elicitationOf(interrupt: Pick<Interrupt, 'metadata'>): Elicitation | undefined {
  const pause = serverPauseOf(interrupt);
  return pause?.kind === 'elicitation' ? pause : undefined;
}

/** Returns the task that a call has to follow, if its server runs it as one. */
export function taskOf(interrupt: Pick<Interrupt, 'metadata'>): TaskPause | undefined {
  const pause = serverPauseOf(interrupt);
  return pause?.kind === 'task' ? pause : undefined;
}

/** Tells whether the server of a paused call runs it as a task, which goes on without us. */
export function isRunAsTask(pause: ServerPause | undefined): boolean {
  return pause?.kind === 'task' || pause?.call.protocol === 'task';
}

/** Tells the same of the call of an interrupt, also while an answer to its task waits for approval. */
export function waitsForTask(interrupt: Pick<Interrupt, 'metadata'>): boolean {
  return isRunAsTask(serverPauseOf(interrupt) ?? answerOf(interrupt)?.pause);
}

/** The end of a pause: a person's response, or the reason why there is none. An answer that approvers did not approve is `rejected`. */
export const PauseEnd = z.object({
  action: z.enum(['accept', 'decline', 'withdrawn', 'expired', 'rejected']),
  content: Content.optional(),
});
export type PauseEnd = z.infer<typeof PauseEnd>;

/** Tells a server why it gets `cancel`, beside the three actions of the protocol. */
const REASON = 'countersign/reason';

/** Returns the response of the protocol to a question that has ended. */
function responseTo({ action, content }: PauseEnd): InputResponse {
  if (action === 'accept') return content === undefined ? { action } : { action, content };
  if (action === 'decline' || action === 'rejected') return { action: 'decline' };
  return { action: 'cancel', _meta: { [REASON]: action } };
}

/** Ends the first open question of a call. Who does not answer one question of a call is not asked the others. */
export function endQuestion<Call extends CurrentCall | TaskQuestions>(
  call: Call,
  end: PauseEnd,
): Pick<Call, 'open' | 'answered' | 'responses'> {
  const ended = end.action === 'accept' ? call.open.slice(0, 1) : call.open;
  const responses = Object.fromEntries(ended.map(({ key }) => [key, responseTo(end)]));
  return {
    open: call.open.slice(ended.length),
    answered: [...call.answered, ...ended],
    responses: { ...call.responses, ...responses },
  };
}

/** Ends the question of an older server; its retry finds all responses so far. */
export function endOlderQuestion(
  { question, call }: { readonly question: ServerQuestion; readonly call: OlderCall },
  end: PauseEnd,
): OlderCall['answers'] {
  return [...call.answers, { digest: call.asked, question, response: responseTo(end) }];
}

/** The metadata key of an answer that waits for approval. */
const ANSWER = 'answer';
const Answer = z.object({ pause: Elicitation, end: PauseEnd, by: z.array(z.string()) });
/** An answer to a server that waits for approval, with the people who gave it. */
export type Answer = z.infer<typeof Answer>;

/** Returns the answer that waits for approval before its server gets it; `undefined` for every other pause. */
export function answerOf(interrupt: Pick<Interrupt, 'metadata'>): Answer | undefined {
  return Answer.safeParse(interrupt.metadata?.[ANSWER]).data;
}

/** Builds the metadata of a pause for the approval of an answer. */
export function answerMetadata(answer: Answer): JsonObject {
  return { [ANSWER]: toJson(answer) };
}

/** A question of a server with the response that it gets. */
interface SentAnswer {
  readonly question: ServerQuestion;
  readonly response: InputResponse;
}

/** Lists what a server gets when a question ends; nothing as long as another one is open. */
export function answersSent({ pause, end }: Pick<Answer, 'pause' | 'end'>): readonly SentAnswer[] {
  const { question, call } = pause;
  if (call.protocol === 'older') return endOlderQuestion({ question, call }, end);
  const { open, answered, responses } = endQuestion(call, end);
  if (open.length > 0) return [];
  return answered.flatMap(({ key, question: asked }) => {
    const response = responses[key];
    return response === undefined ? [] : [{ question: asked, response }];
  });
}

/** Writes what a server gets for people: each question as the server put it, and the response. */
export function answersInWords(answer: Answer): JsonValue {
  return answersSent(answer).map(({ question, response: { action, content } }) => ({
    question: question.message,
    ...(question.mode === 'url' && { opened: question.url }),
    answer: content ?? action,
  }));
}

/** Takes back every answer of a call, so that its task hears that there is none. */
export function withoutAnswers({ pause }: Answer, action: 'rejected' | 'withdrawn' | 'expired') {
  const { call } = pause;
  if (call.protocol !== 'task') return undefined;
  const open = [...call.answered, ...call.open];
  return { pause: { ...pause, call: { ...call, open, answered: [] } }, end: { action } };
}

const Resumed = z.object({ pause: ServerPause, end: PauseEnd });
/** The pause that a restart ends, with its end. */
export type Resumed = z.infer<typeof Resumed>;

/** Reads the pause and its end from the metadata of a restart. */
export function resumedFrom(resumed: unknown): Resumed | undefined {
  const given = JsonRecord.safeParse(resumed).data?.[SERVER_PAUSE];
  return Resumed.safeParse(given).data;
}

/** The answer of a person who gives a server nothing. */
export const DECLINED: JsonValue = { action: 'decline' };

/** Builds the answer to a server's question: the values of its form, or nothing for an address that was opened. */
export function acceptedValue(content?: JsonValue): JsonValue {
  return content === undefined ? { action: 'accept' } : { action: 'accept', content };
}

/** Parses the answer to a server's question; `undefined` if it is none. */
export function parseAnswerValue(payload: string | undefined): PauseEnd | undefined {
  return PauseEnd.safeParse(tryParseJson(payload ?? '')).data;
}
