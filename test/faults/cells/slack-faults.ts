import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../../../playground/slack/web-api/faults.ts';
import type { Cell } from './cell.ts';
import { type Strike, striking } from './strike.ts';

const rounds = { long: 50, short: 2 };
const world = { workers: 2 };
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

/** Slack as it is on a bad day; what it refuses for good ends a request with a clear error, and may then not have run. */
export const SLACK_CELLS: readonly Cell[] = [
  { name: 'Slack: 429', rounds, world, play: striking(rateLimit) },
  { name: 'Slack: 5xx', rounds, world, play: striking(serverErrors) },
  {
    name: 'Slack: reset after it was accepted',
    rounds,
    world,
    play: striking(failing({ kind: 'lost-answer' }, 'chat.postMessage', 'chat.update', 'views.open')),
  },
  {
    name: 'Slack: message_not_found',
    rounds,
    world,
    play: striking(failing({ kind: 'refuse', error: 'message_not_found' }, 'chat.update')),
  },
  {
    name: 'Slack: channel_not_found',
    rounds,
    world,
    leastExecuted: 0.5,
    play: striking(refusingCards('channel_not_found')),
  },
  {
    name: 'Slack: is_archived',
    rounds,
    world,
    leastExecuted: 0.5,
    play: striking(refusingCards('is_archived')),
  },
  {
    name: 'Slack: token revoked for a moment',
    rounds,
    world,
    leastExecuted: 0.5,
    play: striking(revokeToken),
  },
];
