import type { ModelError } from '../../agent/errors.ts';
import type { GenerateResponse } from '../../agent/generate.ts';

/** The reply of a turn in which the model wrote nothing. */
export const EMPTY_ANSWER = "I don't have an answer to this. Please try asking in another way.";

/** Returns the sentence that follows the model's text when a turn ended without a complete answer. */
export function finishNotice(response: GenerateResponse, reference: string): string {
  switch (response.finishReason) {
    case 'stop':
    case 'interrupted':
    case 'refusal':
      return '';
    case 'max-steps':
      return 'I stopped here: this took more steps than I am allowed. Say how to go on.';
    case 'aborted':
      return 'Stopped.';
    case 'length':
      return '(My answer was cut off here: it reached the length limit. Ask for a shorter one.)';
    case 'cut-stream':
      return '(My answer was cut off here. Please ask again.)';
    case 'content-filter':
      return "The provider's content filter stopped this answer. Please ask in another way.";
    case 'empty-choice':
    case 'invalid-output':
      return `The model gave no usable answer. Please try again. (reference ${reference})`;
    case 'model-error':
      return `${describeFailure(response.error)} (reference ${reference})`;
  }
}

/** Says in one sentence why the model did not answer, and what to do next; the log has the provider's own words. */
function describeFailure({ code, retryAfterMs, message }: ModelError): string {
  switch (code) {
    case 'rate-limited':
      return `The model has too many requests right now. Please try again ${inAbout(retryAfterMs)}.`;
    case 'no-quota':
      return "The model's account has no credit left. An admin needs to top it up.";
    case 'unavailable':
      return "I couldn't reach the model. Please try again in a moment.";
    case 'timed-out':
      return "The model didn't answer in time. Please try again.";
    case 'unauthorized':
      return "The model doesn't accept the bot's key. An admin needs to check it.";
    case 'unknown-model':
      return "The configured model isn't available. An admin needs to choose another one.";
    case 'context-too-long':
      return 'This thread is too long for the model. Please start a new one with what matters.';
    case 'content-filter':
      return "The provider's content filter stopped this request. Please ask in another way.";
    case 'over-budget':
      return message;
    case 'malformed-answer':
      return 'The model gave no usable answer. Please try again.';
    case 'refused-request':
      return 'The model rejected the request. An admin can find the reason in the log.';
  }
}

const MINUTE_MS = 60_000;

function inAbout(waitMs: number | undefined): string {
  if (waitMs === undefined || waitMs < MINUTE_MS) return 'in a minute';
  const minutes = Math.ceil(waitMs / MINUTE_MS);
  return minutes < 90 ? `in about ${minutes} minutes` : `in about ${Math.round(minutes / 60)} hours`;
}
