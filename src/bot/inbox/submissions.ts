import type { App } from '@slack/bolt';
import { detailsOf } from '../../engine/request-details.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import { acceptedValue, elicitationOf } from '../../tools/mcp/server-pause.ts';
import { awaitedSchema } from '../asks/awaited-schema.ts';
import type { BotContext } from '../context.ts';
import { tellPrivately } from '../outbox/private-notice.ts';
import {
  parseAnswer,
  parseChosenSteps,
  parseReason,
  parseResolution,
  parseTarget,
  URL_MODAL,
} from '../views/modals/decision-modals.ts';
import { parseSubmission } from '../views/modals/fields/read-field.ts';
import * as modals from '../views/modals/modal.ts';
import { modalTexts } from '../views/texts/modals.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { decideInTime } from './decisions/decide-in-time.ts';
import type { Decision } from './decisions/decision.ts';
import { NOT_FOUND } from './decisions/refusal-text.ts';
import { refreshHome } from './show-home.ts';

/** Reads the decision of a submitted modal; a sentence if it cannot be taken any more. */
type ReadDecision = (
  request: RequestRecord,
  values: unknown,
  metadata: modals.ModalMetadata,
) => modals.Submission<Decision | string>;

/**
 * Turns submitted modals into decisions. An invalid value is explained below its field, and nothing is recorded. A decision that is
 * refused is explained below the first field, so that the person keeps what they have typed; only one that takes longer than Slack
 * waits is told directly.
 */
export function listenToSubmissions(app: App, context: BotContext): void {
  const onSubmit = (callbackId: string, read: ReadDecision): void => {
    app.view({ callback_id: callbackId, type: 'view_submission' }, async ({ ack, view, body }) => {
      const metadata = modals.parseMetadata(view.private_metadata) ?? { requestId: '', page: 0 };
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
      const submitted: modals.Submission<Decision | string> =
        loaded.outcome === 'found'
          ? read(loaded.request, view.state.values, metadata)
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
  const toDecision = <Value>(
    parsed: modals.Submission<Value>,
    build: (value: Value) => Decision,
  ): modals.Submission<Decision> => (parsed.ok ? { ok: true, value: build(parsed.value) } : parsed);

  onSubmit(modals.APPROVE_MODAL, (request, values) =>
    toDecision(parseTarget(request, values), () => ({ type: 'approve' })),
  );
  onSubmit(modals.GRANT_MODAL, () => ({ ok: true, value: { type: 'approve', grants: true } }));
  onSubmit(modals.CHOOSE_MODAL, (_request, values) =>
    toDecision(parseChosenSteps(values), (steps) => ({ type: 'approve', steps })),
  );
  onSubmit(modals.REJECT_MODAL, (_request, values) =>
    toDecision(parseReason(values), (reason) => ({ type: 'reject', reason })),
  );
  onSubmit(modals.ANSWER_MODAL, (request, values) =>
    toDecision(parseAnswer(request, values), (value) => ({ type: 'answer', value })),
  );
  // A modal without a number was opened by an older process, after the attempt that was then the last.
  onSubmit(modals.RESOLVE_MODAL, (request, values, { tries = request.attempts }) =>
    toDecision(parseResolution(values), (resolution) => ({ type: 'resolve', ...resolution, tries })),
  );
  onSubmit(modals.EDIT_MODAL, (request, values) => {
    const entry = context.toolbox.find(detailsOf(request).interrupt.toolRequest.name);
    if (entry === undefined) return { ok: true, value: noticeTexts.toolGone };
    return toDecision(parseSubmission(entry.tool.inputSchema, values), (input) => ({ type: 'edit', input }));
  });
  onSubmit(modals.FORM_MODAL, (request, values) => {
    const { interrupt } = detailsOf(request);
    const schema = awaitedSchema(interrupt);
    if (schema === undefined) return { ok: true, value: noticeTexts.formGone };
    const isAsked = elicitationOf(interrupt) !== undefined;
    return toDecision(parseSubmission(schema, values), (value) => ({
      type: 'answer',
      value: isAsked ? acceptedValue(value) : value,
    }));
  });
  onSubmit(URL_MODAL, () => ({ ok: true, value: { type: 'answer', value: acceptedValue() } }));
}

/** Writes names in place of mentions, which Slack does not show below a field. */
async function nameMentioned(directory: BotContext['directory'], notice: string): Promise<string> {
  const ids = [...notice.matchAll(/<@([UW][A-Z0-9]+)>/g)].flatMap(([, id]) => id ?? []);
  let text = notice;
  for (const id of new Set(ids)) {
    const { name } = await directory
      .relaxed()
      .member(id)
      .catch(() => ({ name: modalTexts.someone }));
    text = text.replaceAll(`<@${id}>`, name);
  }
  return text;
}
