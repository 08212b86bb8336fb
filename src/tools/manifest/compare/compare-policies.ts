import { fillGroups } from '../../gate/fill-groups.ts';
import type { ApproverGroup, Policy } from '../../gate/policy.ts';
import { RISK_LEVELS, type Risk } from '../../gate/risk.ts';
import {
  compareMembers,
  compareNumbers,
  compareOthers,
  durationText,
  incomparable,
  listOf,
  type PartChange,
  stronger,
  weaker,
} from './change.ts';

/** The keys with a comparison of their own, and those that only say who is told and when. */
const KNOWN: ReadonlySet<string> = new Set([
  'name',
  'approvers',
  'groups',
  'excluded',
  'quorum',
  'veto',
  'selfApproval',
  'delegation',
  'separation',
  'expiresMs',
  'startWithinMs',
  'remindMs',
  'escalate',
  'announce',
  'directMessages',
  'quietHours',
  'digest',
  'confirm',
  'risk',
  'timeZone',
  'resolvers',
]);

/**
 * Compares two policies. If no change is weaker or incomparable, then whatever approvals satisfy the next policy satisfy the former
 * one as well, and no later.
 */
export function comparePolicies(former: Policy, next: Policy): PartChange[] {
  return [
    ...compareApprovers(former, next),
    ...compareMembers('who may not approve', next.excluded, former.excluded).map(swapWords),
    ...compareFlags(former, next),
    ...compareNumbers('a request expires after', former.expiresMs, next.expiresMs, durationText),
    ...compareNumbers('an approval holds for', former.startWithinMs, next.startWithinMs, durationText),
    ...compareEscalation(former.escalate, next.escalate),
    ...compareRisk(former, next),
    ...compareMembers('who may confirm an unknown outcome', former.resolvers, next.resolvers),
    ...compareOthers(former, next, KNOWN),
  ];
}

/** The list of the excluded is compared the other way round, so added and removed change places. */
function swapWords({ effect, words }: PartChange): PartChange {
  const swapped = words.endsWith(' added')
    ? words.replace(/added$/, 'removed')
    : words.replace(/removed$/, 'added');
  return { effect, words: swapped };
}

function compareApprovers(former: Policy, next: Policy): PartChange[] {
  const isCovered = covers(former, next);
  const covered = covers(next, former);
  if (isCovered && covered) return [];
  const words = `approvers: ${groupsText(former.groups)} before, ${groupsText(next.groups)} now`;
  if (isCovered) return [stronger(words)];
  return [covered ? weaker(words) : incomparable(words)];
}

/** Tells whether everyone who fills the places of the next policy fills those of the former; nobody fills two places. */
function covers(former: Policy, next: Policy): boolean {
  const places = next.groups.flatMap((group) => new Array<ApproverGroup>(group.quorum).fill(group));
  const members = places.map((place, index) => ({
    who: String(index),
    groups: former.groups.flatMap((group, at) => (isWithin(place, next, group, former) ? [at + 1] : [])),
  }));
  const filled = fillGroups(
    former.groups.map(({ quorum }) => quorum),
    members,
  ).flat();
  // An address that nobody has closes a request, so each expression of the former policy must stay.
  const kept = former.groups.every(
    ({ from }) =>
      from === undefined || next.groups.some((group) => isSameFrom(group.from, next, from, former)),
  );
  return kept && filled.length === former.quorum;
}

function isWithin(inner: ApproverGroup, innerOf: Policy, outer: ApproverGroup, outerOf: Policy): boolean {
  const isNamed = inner.any.every((id) => outer.any.includes(id));
  return isNamed && (inner.from === undefined || isSameFrom(inner.from, innerOf, outer.from, outerOf));
}

function isSameFrom(
  left: string | undefined,
  leftOf: Policy,
  right: string | undefined,
  rightOf: Policy,
): boolean {
  return (
    left === right && (left === undefined || expressionKey(left, leftOf) === expressionKey(left, rightOf))
  );
}

/** An expression over the time means something else in another time zone. */
export function expressionKey(expression: string, { timeZone }: { readonly timeZone: string }): string {
  return /\bnow\b/.test(expression) ? `${expression} in ${timeZone}` : expression;
}

export function groupsText(groups: readonly ApproverGroup[]): string {
  return groups
    .map(({ any, from, quorum }) => {
      const people = [...any, ...(from === undefined ? [] : [`the person of ${from}`])];
      return `${quorum} of ${listOf(people)}`;
    })
    .join(' and ');
}

function compareFlags(former: Policy, next: Policy): PartChange[] {
  const flags: [isStrictBefore: boolean, isStrictNow: boolean, onceStrict: string, onceLoose: string][] = [
    [former.veto, next.veto, 'one rejection is enough', 'one rejection is no longer enough'],
    [
      !former.selfApproval,
      !next.selfApproval,
      'nobody approves their own request',
      'people may approve their own requests',
    ],
    [
      former.delegation === undefined,
      next.delegation === undefined,
      'approvers may not delegate any more',
      'approvers may let others decide for them',
    ],
    [
      former.separation === 'thread',
      next.separation === 'thread',
      'nobody whose words led to the call may approve',
      'people whose words led to the call may approve it',
    ],
  ];
  return flags.flatMap(([before, now, strict, loose]) => {
    if (before === now) return [];
    return [now ? stronger(strict) : weaker(loose)];
  });
}

function compareEscalation(former: Policy['escalate'], next: Policy['escalate']): PartChange[] {
  if (former === undefined && next === undefined) return [];
  if (next === undefined) return [stronger('escalation was removed')];
  if (former === undefined)
    return [weaker(`${listOf(next.to)} may approve after ${durationText(next.afterMs)}`)];
  return [
    ...compareMembers('who may approve later', former.to, next.to),
    ...compareNumbers('others may approve after', next.afterMs, former.afterMs, durationText).map(
      ({ effect }): PartChange => ({
        effect,
        words: `others may approve after ${durationText(next.afterMs)} (was ${durationText(former.afterMs)})`,
      }),
    ),
  ];
}

function compareRisk(former: Policy, next: Policy): PartChange[] {
  const confirming = compareNumbers('', confirmation(next), confirmation(former)).map(({ effect }) => ({
    effect,
    words:
      effect === 'weaker' ? 'Approve asks less often for a confirmation' : 'Approve asks for a confirmation',
  }));
  const [before, now] = [riskText(former.risk), riskText(next.risk)];
  const words = `risk: ${before} before, ${now} now`;
  const [low, high] = [rangeOf(former.risk), rangeOf(next.risk)];
  if (typeof former.risk === 'object' && typeof next.risk === 'object') {
    const isEqual = expressionKey(before, former) === expressionKey(now, next);
    return [...confirming, ...(isEqual ? [] : [incomparable(words)])];
  }
  if (low.least === high.least && low.most === high.most) return confirming;
  if (high.least >= low.most) return [...confirming, stronger(words)];
  return [...confirming, high.most <= low.least ? weaker(words) : incomparable(words)];
}

/** The frequency with which Approve asks for a confirmation: 0 never, 1 where the risk of a call is high, 2 always. */
function confirmation({ confirm, risk }: Policy): number {
  if (confirm !== undefined) return confirm ? 2 : 0;
  if (typeof risk === 'object') return 1;
  return risk === 'high' ? 2 : 0;
}

function riskText(risk: Risk): string {
  return typeof risk === 'string' ? risk : risk.expression;
}

/** Returns the levels that a risk can have, as numbers. */
function rangeOf(risk: Risk): { readonly least: number; readonly most: number } {
  if (typeof risk === 'object') return { least: 0, most: RISK_LEVELS.length - 1 };
  const level = RISK_LEVELS.indexOf(risk);
  return { least: level, most: level };
}
