import { hash } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { canonicalJson, isDeeperThan, isJsonObject, type JsonObject, toJson } from '../../agent/json.ts';
import { compileSchema } from '../../agent/schema/compile-schema.ts';
import type { ToolHelpers } from '../../agent/tool.ts';
import { McpServerError } from '../errors.ts';
import {
  type CurrentCall,
  type Elicitation,
  endOlderQuestion,
  endQuestion,
  type InputResponse,
  isRunAsTask,
  type OlderCall,
  type PauseEnd,
  resumedFrom,
  SERVER_PAUSE,
  type ServerQuestion,
  type TaskQuestions,
} from './server-pause.ts';

/** A server that asks more often than this in one call gets no further answer. */
const MAX_QUESTIONS = 20;
const MAX_STATE = 100_000;
const MAX_ENDING = 500;

/** The result by which a server of the current protocol asks. */
export const InputRequired = z.looseObject({
  resultType: z.literal('input_required'),
  inputRequests: z.record(z.string(), z.unknown()).optional(),
  requestState: z.string().optional(),
});
type InputRequired = z.infer<typeof InputRequired>;

const ElicitRequest = z.object({ method: z.literal('elicitation/create'), params: z.unknown() });

interface DialogCall {
  readonly server: string;
  readonly tool: { readonly name: string; readonly digest: string };
  readonly helpers: Pick<ToolHelpers, 'interrupt' | 'resumed'>;
}

/** The parameters of a retry by which a server of the current protocol gets what it asked for. */
interface RetryParams {
  readonly inputResponses?: Readonly<Record<string, InputResponse>>;
  readonly requestState?: string;
}

/** The responses to the questions of a task. */
export interface TaskAnswers {
  readonly taskId: string;
  readonly responses: Readonly<Record<string, InputResponse>>;
  /** The keys of all questions whose responses are sent with these. */
  readonly sent: string[];
}

/**
 * The questions of a server during one call, and the responses to them. A question that nobody has answered pauses the call; all that
 * the retry needs is in the metadata of the pause.
 */
export class InputDialog {
  /** Sentences for the model about questions that were not answered. */
  readonly notes: string[] = [];
  readonly #call: DialogCall;
  readonly #answers: OlderCall['answers'];
  #unused: OlderCall['answers'];
  #retry: RetryParams = {};
  #taskAnswers: TaskAnswers | undefined;
  #asked: ServerQuestion | undefined;

  constructor(call: DialogCall) {
    this.#call = call;
    const resumed = resumedFrom(call.helpers.resumed);
    // A task runs on by the definition that it was started with, whatever the tool is now.
    if (
      resumed !== undefined &&
      !isRunAsTask(resumed.pause) &&
      resumed.pause.definition !== call.tool.digest
    ) {
      throw new McpServerError(
        'changed',
        call.server,
        `The MCP server "${call.server}" has changed "${call.tool.name}" since it asked for input: it was not run again.`,
      );
    }
    if (resumed?.pause.kind === 'task') this.notes.push(...(resumed.pause.notes ?? []));
    this.#answers = resumed?.pause.kind === 'elicitation' ? this.#resume(resumed.pause, resumed.end) : [];
    this.#unused = [...this.#answers];
  }

  /** The parameters to add to the call. */
  get retryParams(): RetryParams {
    return this.#retry;
  }

  /** The answers for the task that the call waits for. */
  get taskAnswers(): TaskAnswers | undefined {
    return this.#taskAnswers;
  }

  /** True while a question of an older server waits for a person. */
  get hasAsked(): boolean {
    return this.#asked !== undefined;
  }

  /** Takes the questions of a server of the current protocol: pauses the call, or returns if it can be retried at once. */
  require({ inputRequests = {}, requestState }: InputRequired): void {
    if ((requestState?.length ?? 0) > MAX_STATE) throw this.#endless('sent a state that is too long');
    this.#continue({
      protocol: 'current',
      ...this.#readAll(inputRequests),
      ...(requestState !== undefined && { requestState, stateDigest: hash('sha256', requestState) }),
    });
  }

  /** Takes the questions of a task: pauses the call, or returns if they can be answered at once. */
  requireForTask(taskId: string, inputRequests: Readonly<Record<string, unknown>>, sent: string[]): void {
    if (sent.length + Object.keys(inputRequests).length > MAX_QUESTIONS)
      throw this.#endless('keeps asking for input');
    this.#continue({ protocol: 'task', ...this.#readAll(inputRequests), taskId, sent });
  }

  #readAll(
    inputRequests: Readonly<Record<string, unknown>>,
  ): Pick<CurrentCall, 'open' | 'answered' | 'responses'> {
    const open: CurrentCall['open'] = [];
    const responses: Record<string, InputResponse> = {};
    for (const [key, request] of Object.entries(inputRequests)) {
      const asked = ElicitRequest.safeParse(request).data;
      const read = asked === undefined ? undefined : readQuestion(asked.params);
      if (read?.ok === true) open.push({ key, question: read.question });
      else responses[key] = this.#refuse(read?.problem ?? 'it asked for more than input');
    }
    if (open.length > MAX_QUESTIONS) throw this.#endless('asks too much at once');
    return { open, answered: [], responses };
  }

  /** Responds to a question of an older server: with the answer of a person, or with `cancel`, which ends the call for now. */
  respond(params: unknown): InputResponse {
    if (this.#asked !== undefined) return { action: 'cancel' };
    const read = readQuestion(params);
    if (!read.ok) return this.#refuse(read.problem);
    const digest = questionDigest(read.question);
    const known = this.#unused.find((answer) => answer.digest === digest);
    if (known !== undefined) {
      this.#unused = this.#unused.filter((answer) => answer !== known);
      return known.response;
    }
    this.#asked = read.question;
    return { action: 'cancel' };
  }

  /** Takes the address that an older server wants opened before it runs the call; `false` if the person has declined that. */
  requireUrl(params: unknown): boolean {
    const read = readQuestion(params);
    if (!read.ok) {
      this.#refuse(read.problem);
      return false;
    }
    const digest = questionDigest(read.question);
    const last = this.#answers.findLast((answer) => answer.digest === digest);
    if (last !== undefined && last.response.action !== 'accept') return false;
    this.#asked = read.question;
    return true;
  }

  /** Pauses the call if an older server asked a person; `ending` is what the server said when it was told `cancel`. */
  pauseIfAsked(ending: string): void {
    const question = this.#asked;
    if (question === undefined) return;
    if (this.#answers.length >= MAX_QUESTIONS) throw this.#endless('keeps asking for input');
    this.#pause(question, {
      protocol: 'older',
      asked: questionDigest(question),
      answers: [...this.#answers],
      ending: ending.slice(0, MAX_ENDING),
    });
  }

  #resume(pause: Elicitation, end: PauseEnd): OlderCall['answers'] {
    const { question, call } = pause;
    if (call.protocol === 'task') this.notes.push(...(call.notes ?? []));
    if (end.action !== 'accept') this.notes.push(ENDINGS[end.action]);
    if (call.protocol === 'older') return endOlderQuestion({ question, call }, end);
    const { requestState, stateDigest } = call.protocol === 'current' ? call : {};
    if (requestState !== undefined && hash('sha256', requestState) !== stateDigest)
      throw new McpServerError(
        'refused',
        this.#call.server,
        `The state of the MCP server "${this.#call.server}" held a secret and was not kept: the call was not made again.`,
      );
    this.#continue({ ...call, ...endQuestion(call, end) });
    return [];
  }

  #continue(call: CurrentCall | TaskQuestions): void {
    const { open, responses } = call;
    const [first] = open;
    const notes = call.protocol === 'task' && this.notes.length > 0 ? { notes: [...this.notes] } : {};
    if (first !== undefined) this.#pause(first.question, { ...call, ...notes });
    if (call.protocol === 'task') {
      const sent = [...call.sent, ...Object.keys(responses)];
      this.#taskAnswers = { taskId: call.taskId, responses, sent };
      return;
    }
    this.#retry = {
      ...(Object.keys(responses).length > 0 && { inputResponses: responses }),
      ...(call.requestState !== undefined && { requestState: call.requestState }),
    };
  }

  #pause(question: ServerQuestion, call: CurrentCall | OlderCall | TaskQuestions): never {
    const { server, tool, helpers } = this.#call;
    const pause = { kind: 'elicitation', server, definition: tool.digest, question, call };
    return helpers.interrupt({ [SERVER_PAUSE]: toJson(pause) });
  }

  #refuse(problem: string): InputResponse {
    const { server } = this.#call;
    this.notes.push(`The MCP server "${server}" asked for input, and nobody was asked: ${problem}.`);
    return { action: 'decline' };
  }

  #endless(problem: string): McpServerError {
    const { server, tool } = this.#call;
    const message = `The MCP server "${server}" ${problem} in a call of "${tool.name}"; it may or may not have taken effect.`;
    return new McpServerError('lost', server, message);
  }
}

const MAX_MESSAGE = 2000;
const MAX_SCHEMA = 20_000;
const MAX_SCHEMA_DEPTH = 20;
/** The longest address of a button in Slack. */
const MAX_URL = 3000;

/** A question that a person can be asked, or the reason why nobody is asked. */
type ReadQuestion =
  | { readonly ok: true; readonly question: ServerQuestion }
  | { readonly ok: false; readonly problem: string };

const Form = z.object({
  mode: z.literal('form').optional(),
  message: z.string(),
  requestedSchema: z.record(z.string(), z.unknown()),
});
const Url = z.object({ mode: z.literal('url'), message: z.string(), url: z.string() });

/** Reads what a server asks for. A form that asks for a secret is refused, whatever the server says it is for. */
function readQuestion(params: unknown): ReadQuestion {
  const url = Url.safeParse(params).data;
  if (url !== undefined) return readUrl(url);
  const form = Form.safeParse(params).data;
  if (form === undefined) return refuse('it asked in a way that cannot be read');
  const schema = toJson(form.requestedSchema);
  if (!isJsonObject(schema) || schema.type !== 'object') return refuse('its form has no fields');
  if (isDeeperThan(MAX_SCHEMA_DEPTH, schema) || JSON.stringify(schema).length > MAX_SCHEMA)
    return refuse('its form is too large');
  if (!isFlat(schema)) return refuse('its form has fields that are no plain values');
  const secret = secretField(schema);
  if (secret !== undefined)
    return refuse(`its form asks for a secret ("${secret}"), and secrets are never asked for in forms`);
  try {
    compileSchema(schema, 'form', 'schema');
  } catch {
    return refuse('the schema of its form is not valid');
  }
  return { ok: true, question: { mode: 'form', message: form.message.slice(0, MAX_MESSAGE), schema } };
}

function readUrl({ message, url }: z.infer<typeof Url>): ReadQuestion {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isWeb = parsed?.protocol === 'https:' || parsed?.protocol === 'http:';
  if (parsed === undefined || !isWeb) return refuse("the link it wants opened isn't an http(s) URL");
  // A name before the "@" can pose as the host.
  if (parsed.username !== '' || parsed.password !== '')
    return refuse('the link it wants opened contains a user name');
  if (parsed.href.length > MAX_URL) return refuse('the link it wants opened is too long');
  return { ok: true, question: { mode: 'url', message: message.slice(0, MAX_MESSAGE), url: parsed.href } };
}

function refuse(problem: string): ReadQuestion {
  return { ok: false, problem };
}

const PLAIN_TYPES = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'array']);

/** True for a form of plain values and lists of them, which is all that the protocol allows. */
function isFlat({ properties = {} }: JsonObject): boolean {
  if (!isJsonObject(properties)) return false;
  return Object.values(properties).every((field) => {
    if (!isJsonObject(field) || !PLAIN_TYPES.has(field.type)) return false;
    return field.type !== 'array' || (isJsonObject(field.items) && !('properties' in field.items));
  });
}

/** Computes the digest by which the same question is recognized when the server asks it again. */
function questionDigest(question: ServerQuestion): string {
  return hash('sha256', canonicalJson(question));
}

const SECRET_WORDS =
  /\b(tokens?|secrets?|passwords?|passwd|pwd|passphrases?|passcodes?|credentials?|otp|cvv|cvc|(api|access|private|secret|ssh|signing|encryption) ?keys?|card numbers?|(security|verification) codes?)\b/;

/** Returns the name of the first field that asks for a secret, by its format, its name or its title. */
function secretField(schema: JsonObject): string | undefined {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).find(([name, field]) => {
    if (!isJsonObject(field)) return isSecretName(name);
    if (field.format === 'password' || field.writeOnly === true) return true;
    if (field.type === 'boolean') return false;
    return isSecretName(name) || (typeof field.title === 'string' && isSecretName(field.title));
  })?.[0];
}

/** Splits `apiKey`, `api_key` and `api-key` into the same words. */
function isSecretName(name: string): boolean {
  const words = name
    .normalize('NFKC')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/[^a-zA-Z]+/g, ' ')
    .toLowerCase();
  return SECRET_WORDS.test(words) || /(password|apikey|secret|passphrase)/.test(words.replaceAll(' ', ''));
}

const SEVERAL =
  'The server asked for input while several calls of it ran, so it was told to cancel; make the call again, and no other beside it.';

/**
 * Hands the questions of an older server to the call that they belong to. The protocol does not say which that is, so a server that has
 * asked while several calls ran gets one call at a time from then on.
 */
export class OlderQuestions {
  readonly #running = new Set<InputDialog>();
  #isOneByOne = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: Client) {
    client.setRequestHandler('elicitation/create', ({ params }) => ({ ...this.#respond(params) }));
  }

  /** Runs a call; questions that arrive meanwhile are its own. */
  run<Result>(dialog: InputDialog, call: () => Promise<Result>): Promise<Result> {
    const work = this.#isOneByOne
      ? this.#last.then(() => this.#watch(dialog, call))
      : this.#watch(dialog, call);
    this.#last = Promise.allSettled([this.#last, work]);
    return work;
  }

  async #watch<Result>(dialog: InputDialog, call: () => Promise<Result>): Promise<Result> {
    this.#running.add(dialog);
    try {
      return await call();
    } finally {
      this.#running.delete(dialog);
    }
  }

  #respond(params: unknown): InputResponse {
    const [only, other] = this.#running;
    if (only !== undefined && other === undefined) return only.respond(params);
    this.#isOneByOne = true;
    for (const dialog of this.#running) dialog.notes.push(SEVERAL);
    return { action: 'cancel' };
  }
}

/** Sentences for the model about a question that nobody answered. */
const ENDINGS = {
  decline: 'The person who was asked declined to answer the server.',
  rejected: 'The approvers rejected the answer to the server; it was told that nobody answers.',
  expired: 'Nobody answered the server in time; it was told that the question is cancelled.',
  withdrawn: 'The question was withdrawn; the server was told that it is cancelled.',
};

/** Adds sentences for the model to a result. */
export function withNotes(output: unknown, notes: readonly string[]): unknown {
  if (notes.length === 0) return output;
  const lines = notes.map((note) => `[${note}]`);
  if (typeof output === 'string') return [...lines, output].join('\n');
  return { notes: lines, result: output };
}
