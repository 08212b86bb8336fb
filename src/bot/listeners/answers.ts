import type { App, BlockButtonAction } from '@slack/bolt';
import type { RequestRecord, Store } from '../../store/port.ts';
import { APPROVE, REJECT } from '../cards/approval-card.ts';
import { CHOOSE, choicesOf } from '../cards/question-card.ts';

const ANSWERS = new RegExp(`^(${APPROVE}|${REJECT}|${CHOOSE}:\\d+)$`);

/** Turns clicks into decisions: they are on record before Slack is told that the click arrived. */
export function listenToAnswers(app: App, store: Store): void {
  app.action<BlockButtonAction>(ANSWERS, async ({ ack, action, body, respond }) => {
    const loaded = await store.load(action.value ?? '');
    const refusal =
      loaded.outcome === 'found'
        ? await decide(store, loaded.request, action.action_id, body.user.id, action.action_ts)
        : 'This request is not known any more.';
    await ack();
    if (refusal !== undefined)
      await respond({ response_type: 'ephemeral', replace_original: false, text: refusal });
  });
}

/** Records the decision, or gives the sentence that tells the person why it was not taken. */
async function decide(
  store: Store,
  request: RequestRecord,
  actionId: string,
  who: string,
  click: string,
): Promise<string | undefined> {
  const deed = {
    who,
    eligible: request.principals.includes(who),
    evidence: { click, rule: 'named in the policy' },
  };
  const result =
    request.kind === 'approval'
      ? await store.vote(request.id, {
          ...deed,
          decision: actionId === APPROVE ? 'approve' : 'reject',
          shown: request.digest,
        })
      : await store.answer(request.id, deed, choiceOf(request, actionId));
  switch (result.outcome) {
    case 'voted':
    case 'answered':
      return undefined;
    case 'settled':
      return result.by === ''
        ? `This is already ${result.state}.`
        : `This is already ${result.state}, by <@${result.by}>.`;
    case 'own-request':
      return 'You asked for this, so somebody else has to sign it.';
    case 'not-eligible':
      return 'This is not yours to decide.';
    case 'already-voted':
      return 'You have rejected this already.';
    case 'expired':
      return 'This has expired.';
    default:
      return 'This could not be recorded; please look at the card again.';
  }
}

function choiceOf(request: RequestRecord, actionId: string): string {
  return choicesOf(request).choices[Number(actionId.slice(CHOOSE.length + 1))] ?? '';
}
