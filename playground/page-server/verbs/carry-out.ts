import type { Answer, Verb } from '../../protocol.ts';
import { NotPossible } from '../../slack/people/not-possible.ts';
import { Refused } from '../http/refused.ts';
import { DEEDS, type Doing } from './deeds.ts';
import { VERB_SCHEMAS } from './verb-schemas.ts';

/** Does what a page asked for as the person whose client it is; what they could not do in Slack is told in one sentence. */
export async function carryOut<V extends Verb>(verb: V, body: unknown, doing: Doing): Promise<Answer> {
  const parsed = VERB_SCHEMAS[verb].safeParse(body);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
    throw new Refused(400, `This cannot be understood as ${verb}: ${problems.join('; ')}.`);
  }
  try {
    return await DEEDS[verb](doing, parsed.data);
  } catch (error) {
    if (!(error instanceof NotPossible)) throw error;
    return { ok: false, error: error.shown };
  }
}
