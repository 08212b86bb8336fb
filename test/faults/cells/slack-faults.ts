import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../../playground/slack/web-api/faults.ts';
import type { Cell } from './cell.ts';
import { inTurn, type Strike, striking } from './strike.ts';

const CALLS = 8;

/** The next cards cannot be posted, and never can; what else is said still gets through, or nobody would learn of it. */
function refusingCards(error: string): Strike {
  return async ({ workspace }) => {
    const when = (given: Readonly<Record<string, unknown>>) =>
      JSON.stringify(given.blocks ?? '').includes('approve');
    workspace.fail('chat.postMessage', { kind: 'refuse', error }, { calls: 2, when });
    await sleep(300);
  };
}

/** The next calls of these methods go wrong. */
function failing(fault: Fault, ...methods: readonly string[]): Strike {
  return async ({ workspace }) => {
    for (const method of methods) workspace.fail(method, fault, { calls: CALLS });
    await sleep(300);
  };
}

const rateLimit: Strike = async ({ workspace }) => {
  for (const method of ['chat.postMessage', 'chat.update', 'users.info'])
    workspace.rateLimit(method, { calls: CALLS, retryAfterSeconds: 1 });
  await sleep(300);
};

const serverErrors: Strike = async ({ workspace }, round) => {
  const status = ([500, 502, 503, 504] as const)[round % 4] ?? 500;
  workspace.fail('*', { kind: 'status', status }, { calls: CALLS });
  await sleep(300);
};

/** The app is removed, and installed again a moment later. */
const revokeToken: Strike = async ({ workspace }) => {
  workspace.revokeToken();
  await sleep(500);
  workspace.state.app.isTokenRevoked = false;
};

/** Slack as it is on a bad day. */
const SLACK_STRIKES: Readonly<Record<string, Strike>> = {
  'Slack: 429': rateLimit,
  'Slack: 5xx': serverErrors,
  'Slack: reset after it was accepted': failing(
    { kind: 'lost-answer' },
    'chat.postMessage',
    'chat.update',
    'views.open',
  ),
  'Slack: message_not_found': failing({ kind: 'refuse', error: 'message_not_found' }, 'chat.update'),
  'Slack: channel_not_found': refusingCards('channel_not_found'),
  'Slack: is_archived': refusingCards('is_archived'),
  'Slack: token revoked for a moment': revokeToken,
};

/** A permanent refusal of Slack ends a request with a clear error, and the action has not run. */
const ENDING = ['Slack: channel_not_found', 'Slack: is_archived'];

export const SLACK_CELLS: readonly Cell[] = Object.entries(SLACK_STRIKES).map(([name, strike]) => ({
  name,
  rounds: { long: 50, short: 2 },
  world: { workers: 2 },
  ...(ENDING.includes(name) && { leastExecuted: 0.5 }),
  play: striking(strike),
}));

export const SLACK_IN_TURN: Cell = {
  ...inTurn('Slack: each fault in turn', SLACK_STRIKES),
  leastExecuted: 0.5,
};
