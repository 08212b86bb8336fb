import { hash } from 'node:crypto';
import { z } from 'zod';
import { toJson } from '../../../agent/json.ts';
import type { ToolHelpers } from '../../../agent/tool.ts';
import { McpServerError } from '../../errors.ts';
import {
  type CurrentCall,
  type Elicitation,
  type InputResponse,
  isRunAsTask,
  type OlderCall,
  type PauseEnd,
  resumedFrom,
  SERVER_PAUSE,
  type ServerQuestion,
  type TaskQuestions,
} from '../server-pause.ts';
import { ENDINGS } from './notes.ts';
import { questionDigest, readQuestion } from './read-question.ts';

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
export interface RetryParams {
  readonly inputResponses?: Readonly<Record<string, InputResponse>>;
  readonly requestState?: string;
}

/** The responses to the questions of a task. */
export interface TaskAnswers {
  readonly taskId: string;
  readonly responses: Readonly<Record<string, InputResponse>>;
  /** The keys of all questions that are answered with these. */
  readonly answered: string[];
}

/**
 * The questions of a server during one call, and the responses to them. A question that nobody has answered pauses the call; all that
 * the retry needs is in the metadata of the pause.
 */
export class InputDialog {
  /** Sentences for the model about questions that were not answered. */
  readonly notes: string[] = [];
  readonly #call: DialogCall;
  readonly #answers: { readonly question: string; readonly response: InputResponse }[];
  #unused: { readonly question: string; readonly response: InputResponse }[];
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
  requireForTask(taskId: string, inputRequests: Readonly<Record<string, unknown>>, answered: string[]): void {
    if (answered.length + Object.keys(inputRequests).length > MAX_QUESTIONS)
      throw this.#endless('keeps asking for input');
    this.#continue({ protocol: 'task', ...this.#readAll(inputRequests), taskId, answered });
  }

  #readAll(inputRequests: Readonly<Record<string, unknown>>): Pick<CurrentCall, 'open' | 'responses'> {
    const open: CurrentCall['open'] = [];
    const responses: Record<string, InputResponse> = {};
    for (const [key, request] of Object.entries(inputRequests)) {
      const asked = ElicitRequest.safeParse(request).data;
      const read = asked === undefined ? undefined : readQuestion(asked.params);
      if (read?.ok === true) open.push({ key, question: read.question });
      else responses[key] = this.#refuse(read?.problem ?? 'it asked for more than input');
    }
    if (open.length > MAX_QUESTIONS) throw this.#endless('asks too much at once');
    return { open, responses };
  }

  /** Responds to a question of an older server: with the answer of a person, or with `cancel`, which ends the call for now. */
  respond(params: unknown): InputResponse {
    if (this.#asked !== undefined) return { action: 'cancel' };
    const read = readQuestion(params);
    if (!read.ok) return this.#refuse(read.problem);
    const digest = questionDigest(read.question);
    const known = this.#unused.find(({ question }) => question === digest);
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
    const last = this.#answers.findLast(({ question }) => question === digest);
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

  #resume(pause: Elicitation, end: PauseEnd): { question: string; response: InputResponse }[] {
    if (pause.call.protocol === 'task') this.notes.push(...(pause.call.notes ?? []));
    const response = this.#responseTo(end);
    if (pause.call.protocol === 'older')
      return [...pause.call.answers, { question: pause.call.asked, response }];
    const [first, ...open] = pause.call.open;
    const responses = { ...pause.call.responses, ...(first !== undefined && { [first.key]: response }) };
    const { requestState, stateDigest } = pause.call.protocol === 'current' ? pause.call : {};
    if (requestState !== undefined && hash('sha256', requestState) !== stateDigest)
      throw new McpServerError(
        'refused',
        this.#call.server,
        `The state of the MCP server "${this.#call.server}" held a secret and was not kept: the call was not made again.`,
      );
    // Who does not answer one question of a call is not asked the others.
    const rest = end.action === 'accept' ? open : [];
    for (const { key } of end.action === 'accept' ? [] : open) responses[key] = response;
    this.#continue({ ...pause.call, open: rest, responses });
    return [];
  }

  #continue(call: CurrentCall | TaskQuestions): void {
    const { open, responses } = call;
    const [first] = open;
    const notes = call.protocol === 'task' && this.notes.length > 0 ? { notes: [...this.notes] } : {};
    if (first !== undefined) this.#pause(first.question, { ...call, ...notes });
    if (call.protocol === 'task') {
      const answered = [...call.answered, ...Object.keys(responses)];
      this.#taskAnswers = { taskId: call.taskId, responses, answered };
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

  #responseTo({ action, content }: PauseEnd): InputResponse {
    switch (action) {
      case 'accept':
        return content === undefined ? { action } : { action, content };
      case 'decline':
        this.notes.push('The person who was asked declined to answer the server.');
        return { action };
      default:
        this.notes.push(ENDINGS[action]);
        return { action: 'cancel', _meta: { [REASON]: action } };
    }
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

/** Tells a server why it gets `cancel`, beside the three actions of the protocol. */
const REASON = 'countersign/reason';
