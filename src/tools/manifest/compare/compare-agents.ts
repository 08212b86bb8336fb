import type { AgentDeclaration, AuditDeclaration, BuiltInUse } from '../manifest.ts';
import {
  compareMembers,
  compareNumbers,
  compareOthers,
  durationText,
  type PartChange,
  stronger,
  weaker,
} from './change.ts';
import { comparePolicies } from './compare-policies.ts';

/** The keys with a comparison of their own, and those that give nobody a right: the model, its words, its limits. */
const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'fallbackModels',
  'api',
  'config',
  'headers',
  'query',
  'timeoutMs',
  'budgets',
  'instructions',
  'maxSteps',
  'timeZone',
  'contextBudget',
  'context',
  'limits',
  'askers',
  'admins',
  'builtIns',
  'policyChanges',
  'unfreeze',
  'feedback',
  'files',
  'memory',
]);

/** Compares who may ask, who answers the agent's questions, and who the admins are. */
export function compareAgents(former: AgentDeclaration, next: AgentDeclaration): PartChange[] {
  const { askers: before } = former;
  const { askers: now } = next;
  return [
    ...compareMembers('people who may ask', before.people, now.people),
    ...compareMembers('user groups whose members may ask', before.groups, now.groups),
    ...compareMembers('channels where others may ask', before.channels, now.channels),
    ...compareMembers('bots that may ask', before.bots, now.bots),
    ...compareSwitch('guests', before.guests, now.guests),
    ...compareSwitch('people of other organisations', before.external, now.external),
    ...compareMembers('admins', former.admins, next.admins),
    ...compareBuiltIns(former, next),
    ...compareMembers('who may unfreeze', former.unfreeze.approvers, next.unfreeze.approvers),
    ...compareNumbers('approvals needed to unfreeze', next.unfreeze.quorum, former.unfreeze.quorum).map(
      ({ effect }) => ({
        effect,
        words: `approvals needed to unfreeze: ${next.unfreeze.quorum}`,
      }),
    ),
    ...compareChanges(former.policyChanges, next.policyChanges),
    ...compareOthers(former, next, KNOWN),
  ];
}

function compareChanges(
  former: AgentDeclaration['policyChanges'],
  next: AgentDeclaration['policyChanges'],
): PartChange[] {
  if (next === undefined)
    return former === undefined ? [] : [weaker('weakening the rules no longer needs approval')];
  if (former === undefined) return [stronger('weakening the rules needs approval')];
  return comparePolicies(former.policy, next.policy).map(({ effect, words }) => ({
    effect,
    words: `changes of the rules: ${words}`,
  }));
}

function compareSwitch(who: string, former: boolean, next: boolean): PartChange[] {
  if (former === next) return [];
  return [next ? weaker(`all ${who} may ask`) : stronger(`not all ${who} may ask`)];
}

const USES: readonly BuiltInUse[] = ['off', 'requester', 'anyone'];

function compareBuiltIns({ builtIns: former }: AgentDeclaration, { builtIns: next }: AgentDeclaration) {
  const uses = new Map<string, BuiltInUse>(Object.entries(next));
  return Object.entries(former).flatMap(([name, before]: [string, BuiltInUse]) => {
    const now = uses.get(name) ?? 'off';
    return compareNumbers(`who may answer ${name}`, USES.indexOf(before), USES.indexOf(now), (use) => {
      const word = USES[use];
      return word === 'off' ? 'nobody' : word === 'requester' ? 'the requester' : 'anyone';
    });
  });
}

/** Compares where the audit log goes. */
export function compareAudits(former: AuditDeclaration, next: AuditDeclaration): PartChange[] {
  const lost = [
    ...(former.file !== undefined && former.file !== next.file ? [former.file] : []),
    // The rest of the address may hold secrets.
    ...(former.http !== undefined && former.http.url !== next.http?.url
      ? [`its former address at ${new URL(former.http.url).host}`]
      : []),
  ];
  const kept = (ms: number | undefined) => ms ?? Number.POSITIVE_INFINITY;
  return [
    ...lost.map((sink) => weaker(`the audit log is no longer written to ${sink}`)),
    ...compareNumbers(
      'exported rows stay in Redis for',
      kept(next.retentionMs),
      kept(former.retentionMs),
    ).map(({ effect }) => ({
      effect,
      words: `exported rows stay in Redis ${next.retentionMs === undefined ? 'for good' : `for ${durationText(next.retentionMs)}`}`,
    })),
  ];
}
