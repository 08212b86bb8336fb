import type { App } from '@slack/bolt';
import type { Decision } from '../../engine/decision.ts';
import type { BotContext } from '../context.ts';
import { tellPrivately } from '../outbox/private-notice.ts';
import type { AskModal } from '../views/asks/ask-kind.ts';
import { ASK_KINDS } from '../views/asks/ask-kinds.ts';
import { parseMetadata, type Submission } from '../views/modals/modal.ts';
import { modalTexts } from '../views/texts/modals.ts';
import { decideInTime } from './decisions/decide-in-time.ts';
import { NOT_FOUND } from './decisions/refusal-text.ts';
import { refreshHome } from './show-home.ts';

/**
 * Turns submitted modals into decisions. An invalid value is explained below its field, and nothing is recorded. A decision that is
 * refused is explained below the first field, so that the person keeps what they have typed; only one that takes longer than Slack
 * waits is told directly.
 */
export function listenToSubmissions(app: App, context: BotContext): void {
  const onSubmit = (callbackId: string, read: AskModal['read']): void => {
    app.view({ callback_id: callbackId, type: 'view_submission' }, async ({ ack, view, body }) => {
      const metadata = parseMetadata(view.private_metadata) ?? { requestId: '', page: 0 };
      const { requestId } = metadata;
      const replyTo = { user: body.user.id };
      const click = { who: body.user.id, id: view.id, team: body.user.team_id };
      let [isShown, isSignedElsewhere] = [false, false];
      const respond = async (notice?: string): Promise<void> => {
        const field = isSignedElsewhere
          ? undefined
          : view.blocks.find(({ type }) => type === 'input')?.block_id;
        if (notice === undefined || field === undefined) return ack({ response_action: 'clear' });
        isShown = true;
        const text = await nameMentioned(context.directory, notice);
        await ack({ response_action: 'errors', errors: { [field]: text } });
      };
      const loaded = await context.store.load(requestId);
      const submitted: Submission<Decision | string> =
        loaded.outcome === 'found'
          ? read(loaded.request, view.state.values, metadata, context.toolbox)
          : { ok: true, value: NOT_FOUND };
      if (!submitted.ok) return ack({ response_action: 'errors', errors: { ...submitted.errors } });
      const decision = submitted.value;
      // What follows is a link, which Slack does not show below a field.
      isSignedElsewhere =
        typeof decision !== 'string' &&
        decision.type === 'approve' &&
        loaded.outcome === 'found' &&
        loaded.request.policy.passkey === true;
      if (typeof decision === 'string') await respond(decision);
      const notice =
        typeof decision === 'string'
          ? decision
          : await decideInTime(context, { requestId, click, decision }, replyTo, {
              withinMs: context.timing.ackWithinMs.submission,
              ack: respond,
            });
      // A modal on top of another one was opened from App Home.
      if (view.root_view_id !== view.id) await refreshHome(context, body.user.id);
      if (notice !== undefined && !isShown) await tellPrivately(context, replyTo, notice);
    });
  };
  for (const { id, read } of ASK_KINDS.flatMap(({ modals }) => modals)) onSubmit(id, read);
}

/** Writes names in place of mentions, which Slack does not show below a field. */
async function nameMentioned(directory: BotContext['directory'], notice: string): Promise<string> {
  const ids = [...notice.matchAll(/<(?:@|!subteam\^)([UWS][A-Z0-9]+)>/g)].flatMap(([, id]) => id ?? []);
  let text = notice;
  for (const id of new Set(ids)) {
    const name = await directory
      .relaxed()
      .nameOf(id)
      .catch(() => undefined);
    for (const mention of [`<@${id}>`, `<!subteam^${id}>`])
      text = text.replaceAll(mention, name ?? modalTexts.someone);
  }
  return text;
}
