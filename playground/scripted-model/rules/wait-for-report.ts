import { describeOutcome } from '../describe-outcome.ts';
import { callTools, formatOutput, latestCall, type Rule, reply } from '../rule.ts';

const RESULT = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

/** Waits for an external system that reports to the address on the requester's card. */
export const waitForReport: Rule = {
  example: 'Tell me when the build of checkout is done.',
  tool: 'wait_for_callback',
  patterns: [/\b(?:tell me|let me know|notify me) when\b/i, /\bwait (?:for|until)\b/i],

  next({ text, calls }) {
    const report = latestCall(calls, 'wait_for_callback');
    const [, awaited = 'the report'] = /\b(?:when|for|until)\b\s+([^.!?]+)/i.exec(text) ?? [];
    if (report === undefined)
      return callTools(
        { name: 'wait_for_callback', arguments: { awaited, result: RESULT } },
        'Waiting for that. The card shows where an external system can report it.',
      );
    if (report.outcome.kind === 'closed') return reply(describeOutcome('the wait', report.outcome));
    return reply(`Reported for “${awaited}”: ${formatOutput(report.outcome.output)}`);
  },
};
