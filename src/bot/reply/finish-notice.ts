import type { ModelError } from '../../agent/errors.ts';
import type { GenerateResponse } from '../../agent/generate.ts';
import { replyTexts } from '../texts/replies.ts';

/** Returns the sentence that follows the model's text when a turn ended without a complete answer. */
export function finishNotice(response: GenerateResponse, reference: string): string {
  switch (response.finishReason) {
    case 'empty-choice':
    case 'invalid-output':
      return replyTexts.withReference(replyTexts.endings[response.finishReason], reference);
    case 'model-error':
      return replyTexts.withReference(describeFailure(response.error), reference);
    default:
      return replyTexts.endings[response.finishReason];
  }
}

/** Says in one sentence why the model did not answer, and what to do next; the log has the provider's own words. */
function describeFailure({ code, retryAfterMs, message }: ModelError): string {
  if (code === 'over-budget') return message;
  return code === 'rate-limited' ? replyTexts.rateLimited(retryAfterMs) : replyTexts.failures[code];
}
