import type { App } from '@slack/bolt';
import type { RequestRecord } from '../../store/port.ts';
import type { BotParts } from '../bot-parts.ts';
import { answer, type Click, edit, type Notice, resolve, vote } from '../decisions/decide.ts';
import { refreshHome } from '../home/show-home.ts';
import { parseAnswer } from '../modals/answer-modal.ts';
import * as modals from '../modals/modal.ts';
import { parseSubmission } from '../modals/parse-submission.ts';
import { parseReason } from '../modals/reject-modal.ts';
import { parseResolution } from '../modals/resolve-modal.ts';
import { detailsOf } from '../request-details.ts';
import { awaitedSchema } from '../requests/awaited-schema.ts';
import { foreignNotice } from './misplaced.ts';

type Submit = (
  request: RequestRecord,
  values: unknown,
  click: Click,
  metadata: modals.ModalMetadata,
) => Promise<modals.Submission<Notice>>;

/** Turns submitted modals into decisions; what was filled in wrongly is said below the field, and nothing is recorded. */
export function listenToSubmissions(app: App, parts: BotParts): void {
  const onSubmit = (callbackId: string, submit: Submit): void => {
    app.view({ callback_id: callbackId, type: 'view_submission' }, async ({ ack, view, body, client }) => {
      const metadata = modals.parseMetadata(view.private_metadata) ?? { requestId: '', page: 0 };
      const click = { who: body.user.id, id: view.id };
      const [loaded, foreign] = await Promise.all([
        parts.store.load(metadata.requestId),
        foreignNotice(parts, body.user),
      ]);
      const done: modals.Submission<Notice> =
        loaded.outcome === 'found' && foreign === undefined
          ? await submit(loaded.request, view.state.values, click, metadata)
          : { ok: true, value: foreign ?? 'This request is not known any more.' };
      if (!done.ok) return ack({ response_action: 'errors', errors: { ...done.errors } });
      await ack({ response_action: 'clear' });
      // On top of the full view, which is what App Home opens.
      if (view.root_view_id !== view.id) await refreshHome(parts, body.user.id);
      if (done.value !== undefined)
        await client.chat.postMessage({ channel: body.user.id, text: done.value });
    });
  };
  const record = async <Value>(
    parsed: modals.Submission<Value>,
    act: (value: Value) => Promise<Notice>,
  ): Promise<modals.Submission<Notice>> =>
    parsed.ok ? { ok: true, value: await act(parsed.value) } : parsed;

  onSubmit(modals.REJECT_MODAL, (request, values, click) =>
    record(parseReason(values), (reason) => vote(parts, request.id, click, 'reject', reason)),
  );
  onSubmit(modals.ANSWER_MODAL, (request, values, click) =>
    record(parseAnswer(request, values), (value) => answer(parts, request.id, click, value)),
  );
  // A modal without a number was opened by an older process, after the try that was then the last: nobody can tell which.
  onSubmit(modals.RESOLVE_MODAL, (request, values, click, { tries = request.attempts }) =>
    record(parseResolution(values), (resolution) =>
      resolve(parts, request.id, click, { ...resolution, tries }),
    ),
  );
  onSubmit(modals.EDIT_MODAL, async (request, values, click) => {
    const entry = parts.toolbox.find(detailsOf(request).interrupt.toolRequest.name);
    if (entry === undefined) return { ok: true, value: 'The tool is not there any more.' };
    return record(parseSubmission(entry.tool.inputSchema, values), (input) =>
      edit(parts, request.id, click, input),
    );
  });
  onSubmit(modals.FORM_MODAL, async (request, values, click) => {
    const { interrupt } = detailsOf(request);
    const schema = awaitedSchema(interrupt, parts.toolbox.find(interrupt.toolRequest.name));
    if (schema === undefined) return { ok: true, value: 'This form is not there any more.' };
    return record(parseSubmission(schema, values), (value) => answer(parts, request.id, click, value));
  });
}
