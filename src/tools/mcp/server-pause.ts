import { z } from 'zod';
import { type JsonValue, tryParseJson } from '../../agent/json.ts';
import { type Interrupt, JsonRecord } from '../../agent/messages.ts';

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
  answers: z.array(z.object({ question: z.string(), response: InputResponse })),
  /** The server's words at the end of the cancelled call. */
  ending: z.string(),
});
export type OlderCall = z.infer<typeof OlderCall>;

/** A call that its server runs as a task, which needs input; the responses are sent to the task, and the call is not made again. */
const TaskQuestions = CurrentCall.pick({ open: true, responses: true }).extend({
  protocol: z.literal('task'),
  taskId: z.string().min(1),
  /** The keys of earlier questions, which were answered; a task may still show them. */
  answered: z.array(z.string()),
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

/** The end of a pause: a person's response, or the reason why there is none. */
export const PauseEnd = z.object({
  action: z.enum(['accept', 'decline', 'withdrawn', 'expired']),
  content: Content.optional(),
});
export type PauseEnd = z.infer<typeof PauseEnd>;

const Resumed = z.object({ pause: ServerPause, end: PauseEnd });
type Resumed = z.infer<typeof Resumed>;

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
