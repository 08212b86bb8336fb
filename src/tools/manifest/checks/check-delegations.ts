import { isJsonObject, type JsonObject, type JsonValue, pointerTo } from '../../../agent/json.ts';
import { isSigned } from '../../../policy/policy.ts';
import { didYouMean, type Finding } from '../problem.ts';
import { DelegationFile } from '../schema/manifest-file.ts';
import { PolicyFile } from '../schema/policies.ts';
import { toDelegation } from '../to-manifest.ts';
import { readableParts } from './check-shape.ts';

const Parts = DelegationFile.partial();
const PolicyParts = PolicyFile.partial();

/** Finds delegations that can never count: to oneself, a second one of a person, and for policies that there are not or that allow none. */
export function checkDelegations({ delegations, policies }: JsonObject): Finding[] {
  const names = isJsonObject(policies) ? Object.keys(policies) : [];
  const given = partsOf(delegations);
  return given.flatMap(({ pointer, parts: { from, to, policies: named = [] } }, index): Finding[] => {
    const report = (key: string, message: string): Finding => ({
      pointer: `${pointer}/${key}`,
      at: 'value',
      message,
    });
    const earlier = given.findIndex(({ parts }) => parts.from === from);
    return [
      ...(from !== undefined && from === to
        ? [report('to', 'nobody decides for themselves; name another person')]
        : []),
      ...(from !== undefined && earlier < index
        ? [
            report(
              'from',
              `delegation ${earlier + 1} is of this person already, and everyone has one at a time`,
            ),
          ]
        : []),
      ...named.flatMap((name, at) => {
        if (!names.includes(name)) {
          const others =
            names.length === 0 ? '; policies is empty' : `; the policies are ${names.join(', ')}`;
          const message = `there is no policy "${name}"${didYouMean(name, names) || others}`;
          return [report(`policies/${at}`, message)];
        }
        const message = `the policy "${name}" allows no delegation; set delegation: true there`;
        return allows(policies, name) ? [] : [report(`policies/${at}`, message)];
      }),
    ];
  });
}

/** Finds delegations that are over, that no policy allows, or that a policy does not count because approvals are signed there. */
export function doubtDelegations({ delegations, policies, agent }: JsonObject): Finding[] {
  const names = isJsonObject(policies) ? Object.keys(policies) : [];
  const zone = isJsonObject(agent) && typeof agent.time_zone === 'string' ? agent.time_zone : undefined;
  return partsOf(delegations).flatMap(({ pointer, parts }): Finding[] => {
    const { from = '', to = '', until, policies: named } = parts;
    if (until !== undefined && toDelegation({ from, to, until }, zone).until <= Date.now())
      return [{ pointer: `${pointer}/until`, at: 'value', message: 'this delegation is over; remove it' }];
    const meant = (named ?? names).filter((name) => allows(policies, name));
    if (named === undefined && meant.length === 0)
      return [
        {
          pointer,
          at: 'value',
          message: 'no policy allows delegation; set delegation: true where it should count',
        },
      ];
    const signed = meant.filter((name) => isSigned({ confirm: policyIn(policies, name).confirm }));
    const message = `it does not count for what is signed with a passkey under ${signed.map((name) => `"${name}"`).join(', ')}: a delegation there is signed as well, with /countersign delegate`;
    return signed.length === 0 ? [] : [{ pointer, at: 'value', message }];
  });
}

function partsOf(written: JsonValue | undefined) {
  return (Array.isArray(written) ? written : []).map((each: JsonValue, index) => ({
    pointer: pointerTo('/delegations', index),
    parts: readableParts(Parts, each),
  }));
}

function policyIn(policies: JsonValue | undefined, name: string) {
  return readableParts(PolicyParts, isJsonObject(policies) ? (policies[name] ?? null) : null);
}

function allows(policies: JsonValue | undefined, name: string): boolean {
  return policyIn(policies, name).delegation === true;
}
