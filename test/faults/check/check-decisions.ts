import { RULES } from '../world/cast.ts';
import type { Violation } from './invariants.ts';
import { isEnd, rowsOf, type SeenRequest } from './requests.ts';

const APPROVALS = ['approve', 'approve-grant'];

/** Checks who approved what, and what followed. */
export function checkDecisions(requests: readonly SeenRequest[]): Violation[] {
  return requests.flatMap((request) => [...checkQuorum(request), ...checkOrder(request)]);
}

/** Checks that every start had enough distinct, eligible approvals in time, by Slack's messages and by the log. */
function checkQuorum(request: SeenRequest): Violation[] {
  const [started] = rowsOf(request, 'started');
  if (started === undefined && request.effects.length === 0) return [];
  const rule = RULES[request.tool];
  const asked = request.rows[0];
  if (rule === undefined || asked === undefined)
    return [{ invariant: 2, what: `${request.id} (${request.tool}) ran, and no rule lets it` }];
  const end = asked.at + rule.expiresMs;
  const byClick = request.clicks.filter(({ actionId, at }) => APPROVALS.includes(actionId) && at <= end);
  const byVote = request.votes.filter(({ detail, at }) => detail.startsWith('approve ') && at <= end);
  const clicked = eligible(
    byClick.map(({ who }) => who),
    rule.signers,
  );
  const voted = eligible(
    byVote.map(({ detail }) => detail.split(' ')[1] ?? ''),
    rule.signers,
  );
  const short = [clicked, voted].find((people) => people.size < rule.quorum);
  if (short === undefined) return [];
  const what = `${request.id} (${request.tool}) ran on ${[...short].join(', ') || 'nobody'} of ${rule.quorum}`;
  return [{ invariant: 2, what }];
}

function eligible(people: readonly string[], signers: readonly string[]): Set<string> {
  return new Set(people.filter((who) => signers.includes(who)));
}

/** Nothing begins after an end, and an end stays the only one. */
function checkOrder({ id, rows }: SeenRequest): Violation[] {
  const violations: Violation[] = [];
  const refused = rows.findIndex(({ event }) => ['rejected', 'expired', 'withdrawn'].includes(event));
  if (refused !== -1 && rows.slice(refused).some(({ event }) => event === 'started'))
    violations.push({ invariant: 4, what: `${id} was started after it was ${rows[refused]?.event}` });
  const end = rows.findIndex(isEnd);
  const after = rows.slice(end + 1).filter((row) => isEnd(row) || CHANGES.includes(row.event));
  if (end !== -1 && after.length > 0)
    violations.push({
      invariant: 6,
      what: `${id} was ${rows[end]?.event}, and then ${after.map(({ event }) => event).join(', ')}`,
    });
  return violations;
}

const CHANGES = ['voted', 'approved', 'started', 'retried', 'unknown'];
