import type { ModelError, ModelErrorCode } from '../../agent/errors.ts';
import type { GenerateResponse } from '../../agent/generate.ts';
import type { BotContext } from '../context.ts';
import { tellAdmins } from '../delivery/tell-admins.ts';
import { adminTexts } from '../texts/admins.ts';
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

/** The failures of a model that last until an admin does something. */
const FOR_ADMINS: ReadonlySet<ModelErrorCode> = new Set([
  'refused-request',
  'no-quota',
  'unauthorized',
  'unknown-model',
]);

/** Tells the admins, with the provider's words, of a failure that only they can end; of each kind once a day. */
export async function reportModelFailure(
  context: Pick<BotContext, 'agent' | 'store' | 'logger'>,
  error: ModelError,
  reference: string,
): Promise<void> {
  if (!FOR_ADMINS.has(error.code)) return;
  const day = new Date().toISOString().slice(0, 10);
  const text = adminTexts.modelNeedsAttention(error.message, reference);
  try {
    await tellAdmins(context, 'model', { id: `model/${day}/${error.code}`, text, kind: 'plain' });
  } catch (err) {
    context.logger.error({ err }, 'admins not told about the model');
  }
}
