import { tellClosed } from '../describe-outcome.ts';
import { call, latest, type Scene, say } from '../rule.ts';

const RESULT = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

/** Waits until something outside reports back to the address that the card gives to the requester. */
export const waitForReport: Scene = {
  example: 'Tell me when the build of checkout is done.',
  takes: [/\b(?:tell me|let me know|notify me) when\b/i, /\bwait (?:for|until)\b/i],

  play({ words, steps }) {
    const report = latest(steps, 'wait_for_callback');
    const [, awaited = 'the report'] = /\b(?:when|for|until)\b\s+([^.!?]+)/i.exec(words) ?? [];
    if (report === undefined)
      return call(
        { name: 'wait_for_callback', arguments: { awaited, result: RESULT } },
        'I wait for that. The card tells you where an outside system reports it.',
      );
    if (report.outcome.kind === 'closed') return say(tellClosed('the wait', report.outcome));
    return say(`This was reported for “${awaited}”: \`${JSON.stringify(report.outcome.output)}\`.`);
  },
};
