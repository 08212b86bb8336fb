import { tellClosed } from '../describe-outcome.ts';
import { call, latest, type Scene, say } from '../rule.ts';

const FIELDS = {
  type: 'object',
  properties: {
    title: { type: 'string', title: 'What happened?', minLength: 5 },
    severity: { type: 'string', title: 'How bad is it?', enum: ['low', 'medium', 'high'] },
    people: { type: 'integer', title: 'How many people notice it?', minimum: 1 },
  },
  required: ['title', 'severity', 'people'],
};

/** Asks for several values at once, with a form. */
export const reportIncident: Scene = {
  example: 'I want to report an incident.',
  takes: [/\b(?:report|file|open|raise)\b.*\bincident\b/i],

  play({ steps }) {
    const form = latest(steps, 'request_form');
    if (form === undefined)
      return call({ name: 'request_form', arguments: { title: 'Report an incident', fields: FIELDS } });
    if (form.outcome.kind === 'closed') return say(tellClosed('the form', form.outcome));
    return say(
      `Your form arrived: \`${JSON.stringify(form.outcome.output)}\`.`,
      'I have no tool for incidents, so it goes nowhere from here.',
    );
  },
};
