import { type HttpAnswer, jsonAnswer, refusal } from '../slack/http-answer.ts';
import type { CallbackOutcome } from './receive-callback.ts';

/** The delay for a sender that was faster than the thread. */
const RETRY_AFTER_S = '15';

/** Builds the HTTP answer to the sender of a callback. */
export function answerCallback(outcome: CallbackOutcome): HttpAnswer {
  switch (outcome.outcome) {
    case 'recorded':
      return jsonAnswer(200, { ok: true });
    case 'not-json':
      return refusal(
        400,
        "The body is not JSON, is nested too deep, or has a number that can't be stored exactly; send such a number as a string.",
      );
    case 'unfit': {
      const where = outcome.field === '' ? 'the body' : outcome.field;
      return refusal(400, `The body does not fit the expected schema: ${where}: ${outcome.problem}`);
    }
    case 'forged':
      return refusal(401, 'This address is not valid.');
    case 'expired':
      return refusal(410, 'The deadline to report back has passed.');
    case 'used':
      return refusal(410, 'This address was already used; it works once.');
    case 'settled':
      return refusal(410, `Nothing is waiting for this: the request is ${outcome.state}.`);
    case 'not-waiting':
      return refusal(409, 'Nothing is waiting for this yet; try again later.', {
        'retry-after': RETRY_AFTER_S,
      });
  }
}
