import { describeOutcome } from '../describe-outcome.ts';
import { callTools, formatOutput, latestCall, type Rule, reply } from '../rule.ts';

const FIELDS = {
  type: 'object',
  properties: {
    title: { type: 'string', title: 'What happened?', minLength: 5 },
    severity: { type: 'string', title: 'How bad is it?', enum: ['low', 'medium', 'high'] },
    people: { type: 'integer', title: 'How many people are affected?', minimum: 1 },
  },
  required: ['title', 'severity', 'people'],
};

/** Asks for several values with one form. */
export const reportIncident: Rule = {
  example: 'I want to report an incident.',
  tool: 'request_form',
  patterns: [/\b(?:report|file|open|raise)\b.*\bincident\b/i],

  next({ calls }) {
    const form = latestCall(calls, 'request_form');
    if (form === undefined)
      return callTools({ name: 'request_form', arguments: { title: 'Report an incident', fields: FIELDS } });
    if (form.outcome.kind === 'closed') return reply(describeOutcome('the form', form.outcome));
    return reply(
      `Thanks, I got your report: ${formatOutput(form.outcome.output)}\n\n`,
      'I have no tool for incidents, so nothing else happens with it here.',
    );
  },
};
