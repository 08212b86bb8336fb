import { consentOf } from '../../../tools/mcp/auth/ask-for-consent.ts';
import { CONNECT } from '../cards/action-ids.ts';
import { button, context, mentions } from '../cards/card.ts';
import { drawForm, exactPurpose, purposeOf } from '../cards/form-card.ts';
import { connectionTexts } from '../texts/connections.ts';
import { words } from '../texts/format.ts';
import type { AskKind } from './ask-kind.ts';

/** An account that a call waits for: whose, at which server. Only its person can connect it, by a link that `connections.ts` makes. */
export const consent: AskKind = {
  name: 'consent',
  recordedAs: 'form',
  isOf: (interrupt) => consentOf(interrupt) !== undefined,
  card: (request, details, options) =>
    drawForm(request, purposeOf(details), options, {
      heading: connectionTexts.cardHeading,
      text: connectionTexts.cardText,
      waiting: [words(connectionTexts.cardOnly), ...mentions(request.principals)],
      asked: request.state === 'pending' ? [context(words(connectionTexts.cardExplanation))] : [],
      actions: [button(request.id, CONNECT, connectionTexts.connect, { style: 'primary' })],
    }),
  exact: exactPurpose,
  buttons: [],
  modals: [],
};
