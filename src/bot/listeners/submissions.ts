import type { App } from '@slack/bolt';
import type { RequestRecord } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { castVote } from '../decisions/cast-vote.ts';
import { type Click, checkClick, decideInTrace, type Notice } from '../decisions/click.ts';
import { answer, edit, resolve } from '../decisions/decide.ts';
import { refreshHome } from '../home/show-home.ts';
import { parseAnswer } from '../modals/answer-modal.ts';
import * as modals from '../modals/modal.ts';
import { parseSubmission } from '../modals/parse-submission.ts';
import { parseReason } from '../modals/reject-modal.ts';
import { parseResolution } from '../modals/resolve-modal.ts';
import { awaitedSchema } from '../requests/awaited-schema.ts';
import { detailsOf } from '../requests/request-details.ts';

type Submit = (
  request: RequestRecord,
  values: unknown,
  click: Click,
  metadata: modals.ModalMetadata,
) => Promise<modals.Submission<Notice>>;

/** Turns submitted modals into decisions. An invalid value is explained below its field, and nothing is recorded. */
export function listenToSubmissions(app: App, context: BotContext): void {
  const onSubmit = (callbackId: string, submit: Submit): void => {
    app.view({ callback_id: callbackId, type: 'view_submission' }, async ({ ack, view, body, client }) => {
      const metadata = modals.parseMetadata(view.private_metadata) ?? { requestId: '', page: 0 };
      const click = { who: body.user.id, id: view.id, team: body.user.team_id };
      const checked = await checkClick(context, metadata.requestId, click);
      const done: modals.Submission<Notice> = checked.ok
        ? await decideInTrace(checked.request, () =>
            submit(checked.request, view.state.values, click, metadata),
          )
        : { ok: true, value: checked.notice };
      if (!done.ok) return ack({ response_action: 'errors', errors: { ...done.errors } });
      await ack({ response_action: 'clear' });
      // A modal on top of another one was opened from App Home.
      if (view.root_view_id !== view.id) await refreshHome(context, body.user.id);
      if (done.value !== undefined)
        await client.chat.postMessage({ channel: body.user.id, text: done.value });
    });
  };
  const record = async <Value>(
    parsed: modals.Submission<Value>,
    decide: (value: Value) => Promise<Notice>,
  ): Promise<modals.Submission<Notice>> =>
    parsed.ok ? { ok: true, value: await decide(parsed.value) } : parsed;

  onSubmit(modals.REJECT_MODAL, (request, values, click) =>
    record(parseReason(values), (reason) => castVote(context, request, click, 'reject', reason)),
  );
  onSubmit(modals.ANSWER_MODAL, (request, values, click) =>
    record(parseAnswer(request, values), (value) => answer(context, request, click, value)),
  );
  // A modal without a number was opened by an older process, after the attempt that was then the last.
  onSubmit(modals.RESOLVE_MODAL, (request, values, click, { tries = request.attempts }) =>
    record(parseResolution(values), (resolution) =>
      resolve(context, request, click, { ...resolution, tries }),
    ),
  );
  onSubmit(modals.EDIT_MODAL, async (request, values, click) => {
    const entry = context.toolbox.find(detailsOf(request).interrupt.toolRequest.name);
    if (entry === undefined) return { ok: true, value: 'The tool is not there any more.' };
    return record(parseSubmission(entry.tool.inputSchema, values), (input) =>
      edit(context, request, click, input),
    );
  });
  onSubmit(modals.FORM_MODAL, async (request, values, click) => {
    const { interrupt } = detailsOf(request);
    const schema = awaitedSchema(interrupt, context.toolbox.find(interrupt.toolRequest.name));
    if (schema === undefined) return { ok: true, value: 'This form is not there any more.' };
    return record(parseSubmission(schema, values), (value) => answer(context, request, click, value));
  });
}
