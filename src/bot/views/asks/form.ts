import { awaitedSchema } from '../../../engine/asks/awaited-schema.ts';
import { detailsOf } from '../../../engine/request-details.ts';
import { acceptedValue, elicitationOf } from '../../../tools/mcp/server-pause.ts';
import { askOf } from '../../../tools/pause.ts';
import { FILL_IN } from '../cards/action-ids.ts';
import { button } from '../cards/card.ts';
import { drawForm, exactPurpose, purposeOf } from '../cards/form-card.ts';
import { peopleOf } from '../cards/question-card.ts';
import { buildUrlModal } from '../modals/decision-modals.ts';
import { parseSubmission } from '../modals/fields/read-field.ts';
import { buildOutputModal } from '../modals/form-modal.ts';
import { FORM_MODAL } from '../modals/modal.ts';
import { cardTexts } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { noticeTexts } from '../texts/notices.ts';
import { type AskKind, toDecision } from './ask-kind.ts';

/** A form: its purpose and the button that opens it, and later the submitted values. */
export const form: AskKind = {
  name: 'form',
  recordedAs: 'form',
  isOf: (interrupt) => askOf(interrupt)?.way.kind === 'form',
  card: (request, details, options) =>
    drawForm(request, purposeOf(details), options, {
      heading: cardTexts.form,
      text: cardTexts.pleaseFillIn,
      waiting: [words(cardTexts.fillInBy), ...peopleOf(request.principals)],
      actions: [button(request.id, FILL_IN, cardTexts.fillIn, { style: 'primary' })],
    }),
  exact: exactPurpose,
  buttons: [
    {
      id: FILL_IN,
      open: async (request, { answererProblem }) => {
        const { interrupt } = detailsOf(request);
        const asked = elicitationOf(interrupt);
        // The address may be meant for one person alone.
        const problem = asked && (await answererProblem());
        if (problem !== undefined) return problem;
        const link = asked && buildUrlModal(request, asked);
        if (link !== undefined) return link;
        const schema = awaitedSchema(interrupt);
        if (schema === undefined) return noticeTexts.formUnreadable;
        const built = buildOutputModal(request, schema);
        return built.ok ? built.view : built.reason;
      },
    },
  ],
  modals: [
    {
      id: FORM_MODAL,
      read: (request, values) => {
        const { interrupt } = detailsOf(request);
        const schema = awaitedSchema(interrupt);
        if (schema === undefined) return { ok: true, value: noticeTexts.formGone };
        const isAsked = elicitationOf(interrupt) !== undefined;
        return toDecision(parseSubmission(schema, values), (value) => ({
          type: 'answer',
          value: isAsked ? acceptedValue(value) : value,
        }));
      },
    },
  ],
};
