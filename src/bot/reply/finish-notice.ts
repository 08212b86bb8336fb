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
    case 'cut-stream':
      return '(My answer was cut off here. Please ask again.)';
    case 'content-filter':
      return 'The model may not answer that.';
    case 'empty-choice':
    case 'model-error':
      return `I could not reach my model just now. Please try again in a moment. (reference ${reference})`;
  }
}
