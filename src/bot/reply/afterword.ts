import type { GenerateResponse } from '../agent/generate.ts';

/** What people are told at the end of a turn: the model's words, or one plain sentence when there are none. */
export function wordsFor(response: GenerateResponse): string {
  switch (response.finishReason) {
    case 'stop':
    case 'interrupted':
    case 'refusal':
      return response.text;
    case 'max-steps':
      return 'I stopped here: this took more steps than I am allowed.';
    case 'aborted':
      return '';
    case 'length':
    case 'cut-stream':
      return response.text === ''
        ? 'My answer was cut off. Please ask again.'
        : `${response.text}\n(cut off here)`;
    case 'content-filter':
      return 'The model may not answer that.';
    case 'empty-choice':
    case 'model-error':
      return 'I could not reach my model just now. Please try again in a moment.';
  }
}
