import type { ModelErrorCode } from '../../../agent/errors.ts';
import type { GenerateResponse } from '../../../agent/generate.ts';
import type { AskerProblem } from '../../../engine/asks/may-ask.ts';

const MINUTE_MS = 60_000;

/** The sentence after the model's text for each way in which a turn ends without a complete answer. */
const ENDINGS = {
  stop: '',
  interrupted: '',
  refusal: '',
  'max-steps': 'I stopped here because this took too many steps. Tell me how to continue.',
  aborted: 'Stopped.',
  length: '(My answer was cut off because it got too long. Ask for a shorter one.)',
  'cut-stream': '(My answer was cut off. Please ask again.)',
  'content-filter': "The provider's content filter stopped this answer. Please rephrase your question.",
  'empty-choice': 'The model gave no usable answer. Please try again.',
  'invalid-output': 'The model gave no usable answer. Please try again.',
} as const satisfies Record<Exclude<GenerateResponse['finishReason'], 'model-error'>, string>;

/** Says why the model did not answer, and what to do next. */
const FAILURES = {
  'no-quota': "The model's account has no credit left. An admin needs to top it up.",
  unavailable: 'The model failed to answer. Please try again in a moment.',
  'timed-out': "The model didn't answer in time. Please try again.",
  unauthorized: "The model doesn't accept the bot's key. An admin needs to check it.",
  'unknown-model': "The configured model isn't available. An admin needs to choose another one.",
  'context-too-long': 'This thread is too long for the model. Please start a new one with what matters.',
  'content-filter': "The provider's content filter stopped this request. Please rephrase your question.",
  'malformed-answer': 'The model gave no usable answer. Please try again.',
  'refused-request': 'The model rejected the request. An admin can find the reason in the log.',
} as const satisfies Record<Exclude<ModelErrorCode, 'rate-limited' | 'over-budget'>, string>;

/** Whose budget is spent. */
const BUDGET_OWNER = { thread: 'This thread has', person: 'You have', bot: 'I have' } as const;

/** The actions that a stop has found, in words. */
interface StoppedActions {
  readonly withdrawn: readonly string[];
  readonly running: readonly string[];
  readonly ran: readonly string[];
  readonly unknown: readonly string[];
}

const MAX_LISTED = 5;

function listed(titles: readonly string[]): string {
  const more = titles.length - MAX_LISTED;
  return `${titles.slice(0, MAX_LISTED).join('; ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Every sentence of ours in a reply to a message. */
export const replyTexts = {
  empty: "I don't have an answer to this. Please try rephrasing your question.",
  endings: ENDINGS,
  failures: FAILURES,
  rateLimited: (waitMs: number | undefined) =>
    `The model has too many requests right now. Please try again ${inAbout(waitMs)}.`,
  withReference: (sentence: string, reference: string) => `${sentence} (reference ${reference})`,
  taskBudgetSpent: 'This task has used up its tokens, so I stopped here. Please split it into smaller tasks.',
  dayBudgetSpent: (owner: keyof typeof BUDGET_OWNER, hours: number) =>
    `${BUDGET_OWNER[owner]} used all tokens for today. I can continue after midnight UTC, in about ${
      hours === 1 ? 'an hour' : `${hours} hours`
    }. An admin can raise the limit.`,
  quarantined: "I can't continue this thread: it failed several times in a row. An admin has been told.",
  callerQuarantined: (caller: string) =>
    `I can't continue a request of ${caller}: it failed several times in a row. An admin has been told.`,
  feedback: { good: 'Good answer', bad: 'Bad answer' },
  feedbackThanks: {
    good: 'Thank you for your feedback.',
    bad: 'Thank you for your feedback. Write here what went wrong, and I can try again.',
  },
  feedbackWrongPlace: "You can't rate this answer from here.",
  feedbackOtherWorkspace: 'Only members of this workspace can rate answers.',
  asks: ' asks: ',
  cannotPostHere: "I can't post in this channel. Please invite me first, or write to me directly.",
  stopped: ({ withdrawn, running, ran, unknown }: StoppedActions) =>
    [
      'Stopped.',
      ...(withdrawn.length === 0 ? [] : [`Withdrawn: ${ended(listed(withdrawn))}`]),
      ...(running.length === 0 ? [] : [`Too late to stop: ${ended(listed(running))}`]),
      ...(unknown.length === 0 ? [] : [`May or may not have happened: ${ended(listed(unknown))}`]),
      ran.length === 0 ? 'Nothing else had run.' : `Already done: ${ended(listed(ran))}`,
    ].join(' '),
  cutOff: '(This answer was interrupted. I started again below.)',
  notStopped: (running: readonly string[], canBeUndone: boolean, isTold = false) =>
    `This is running and ${isTold ? 'was told to stop; its card says how it ended' : "can't be stopped from here"}: ${ended(listed(running))}${canBeUndone ? ' You can undo it on its card when it is done.' : ''} I won't do anything after it.`,
  nothingToStop: 'You have nothing to stop here.',
  mayNotAsk: {
    'not-an-asker': "You can't give me tasks in this workspace. Please ask a colleague who can.",
    'not-checked': "I can't check right now whether you may ask me. Please try again in a moment.",
  } satisfies Record<AskerProblem, string>,
  fileNotSent: (name: string, reason: string) => `I couldn't send the file ${name} here (${reason}).`,
  undelivered: (channel: string, reason: string) =>
    `Slack didn't let me post my reply in <#${channel}> (${reason}). Please ask me again somewhere else.`,
  outcomes: { done: 'Done', 'partly-done': 'Partly done', 'not-done': 'Not done' },
} as const;

/** The lines that Slack shows behind the bot's name while a turn runs. */
export const statusTexts = {
  thinking: 'is thinking…',
  running: (title: string, others: number) =>
    `is running: ${title}${others === 0 ? '' : ` (and ${others} more)`}`,
  progress: (title: string, message: string) => `is running: ${title}: ${message}`,
  /** The title of the list of steps in a reply that takes long. */
  steps: 'Steps',
  sentForApproval: 'Sent for approval',
  stopped: 'Stopped',
} as const;

/** Ends a sentence, unless it has an end: a question is its own title. */
function ended(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function inAbout(waitMs: number | undefined): string {
  if (waitMs === undefined || waitMs < MINUTE_MS) return 'in a minute';
  const minutes = Math.ceil(waitMs / MINUTE_MS);
  return minutes < 90 ? `in about ${minutes} minutes` : `in about ${Math.round(minutes / 60)} hours`;
}
