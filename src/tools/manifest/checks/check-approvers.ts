import { fillGroups } from '../../gate/fill-groups.ts';
import type { ApproverGroup } from '../../gate/policy.ts';
import type { Finding } from '../problem.ts';
import type { PolicyFile } from '../schema/policies.ts';
import { toApprovers } from '../to-manifest.ts';
import { checkExpression } from './check-expression.ts';

const EMAIL = {
  what: 'expression',
  types: ['string', 'list<string>', 'list<dyn>'],
  expected: 'an expression must give an email address or a list of them',
};

type Written = Pick<PolicyFile, 'approvers' | 'quorum'>;

/** Checks who must approve: the form, expressions, and that the people who are named can reach the quorum. */
export function checkApprovers(pointer: string, written: Written): Finding[] {
  const form = formProblem(written);
  if (form !== undefined) return [{ pointer: `${pointer}${form.key}`, at: 'value', message: form.message }];
  const { groups, excluded } = toApprovers(written);
  const findings = groups.flatMap((group) => checkFrom(pointer, group));
  const shortage = shortageOf(groups, excluded);
  if (shortage === undefined) return findings;
  const at = written.quorum === undefined || groups.length > 1 ? '/approvers' : '/quorum';
  return [...findings, { pointer: `${pointer}${at}`, at: 'value', message: shortage }];
}

function formProblem({ approvers, quorum }: Written): { key: string; message: string } | undefined {
  if (Array.isArray(approvers)) return undefined;
  const { any, from, all } = approvers;
  if (all === undefined)
    return any === undefined && from === undefined
      ? { key: '/approvers', message: 'name the approvers: one of "any", "from" and "all" is missing' }
      : undefined;
  if (any !== undefined || from !== undefined)
    return { key: '/approvers', message: 'write either "all" or "any" and "from", not both' };
  if (quorum !== undefined)
    return { key: '/quorum', message: 'with "all" each group has a quorum of its own; write it there' };
  const empty = all.findIndex((group) => group.any === undefined && group.from === undefined);
  return empty === -1
    ? undefined
    : {
        key: `/approvers/all/${empty}`,
        message: 'name the people of this group: "any" or "from" is missing',
      };
}

function checkFrom(pointer: string, { from, pointer: at }: ApproverGroup): Finding[] {
  const wrong = from === undefined ? undefined : checkExpression(from, EMAIL);
  if (wrong === undefined) return [];
  return [{ pointer: `${pointer}${at.replace(/any$/, 'from')}`, at: 'value', ...wrong }];
}

/** Describes that too few people are named; user groups and people of the call may be any number. */
function shortageOf(groups: readonly ApproverGroup[], excluded: readonly string[]): string | undefined {
  const isKnown = ({ any, from }: ApproverGroup) =>
    from === undefined && !any.some((id) => id.startsWith('S'));
  const known = groups.filter(isKnown);
  const people = [...new Set(known.flatMap(({ any }) => any))].filter((id) => !excluded.includes(id));
  const filled = fillGroups(
    known.map(({ quorum }) => quorum),
    people.map((who) => ({
      who,
      groups: known.flatMap(({ any }, index) => (any.includes(who) ? [index + 1] : [])),
    })),
  ).flat().length;
  const needed = known.reduce((sum, { quorum }) => sum + quorum, 0);
  if (filled >= needed) return undefined;
  return `${needed} must approve, but only ${filled} can: name more approvers or lower the quorum`;
}
