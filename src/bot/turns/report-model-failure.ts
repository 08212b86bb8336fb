import type { ModelError, ModelErrorCode } from '../../agent/errors.ts';
import type { BotContext } from '../context.ts';
import { tellAdmins } from '../delivery/tell-admins.ts';
import { adminTexts } from '../texts/admins.ts';

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
