import { isJsonObject, type JsonObject, type JsonValue, pointerTo } from '../../../agent/json.ts';
import { usesFirst } from '../../../policy/condition.ts';
import { type ApproverGroup, fillGroups, isRiskLevel, RISK_LEVELS } from '../../../policy/policy.ts';
import { isTimeZone } from '../../../policy/time.ts';
import { parseDisplayTemplate, placeholdersIn, type TemplateRoot } from '../../presentation/text-template.ts';
import { didYouMean, type Finding } from '../problem.ts';
import { FreezeFile } from '../schema/manifest-file.ts';
import { ANSWERERS, LimitFile, NotifyFile, PolicyFile, RULE_WORDS, RuleFile } from '../schema/policies.ts';
import { durationMs } from '../schema/values.ts';
import { DEFAULT_EXPIRES_MS, toApprovers } from '../to-manifest.ts';
import { CONDITION, checkExpression, listRules, possibleTexts } from './check-rules.ts';
import { readableParts } from './check-shape.ts';

const MOST_WITHIN_MS = durationMs('1d');
const Parts = PolicyFile.partial();

/** Finds mistakes that the schema cannot: a quorum that cannot be reached, times after the request expires, unknown time zones. */
export function checkPolicies(manifest: JsonObject): Finding[] {
  const { agent, policies, limits, freezes, page } = manifest;
  const ofAgent = isJsonObject(agent)
    ? [
        ...checkTimeZone('/agent', agent.time_zone),
        ...checkUnfreeze(agent.unfreeze),
        ...checkChanges(agent.policy_changes),
        ...(page === undefined ? checkPasskey('/agent/policy_changes', agent.policy_changes) : []),
      ]
    : [];
  ofAgent.push(...checkFreezes(freezes));
  ofAgent.push(...checkLimits(limits, isJsonObject(policies) ? Object.keys(policies) : []));
  ofAgent.push(...checkTotals(manifest));
  if (!isJsonObject(policies)) return ofAgent;
  return [
    ...ofAgent,
    ...Object.entries(policies).flatMap(([name, policy]) => [
      ...checkPolicyName(name),
      ...checkPolicy(pointerTo('/policies', name), policy),
      ...(page === undefined ? checkPasskey(pointerTo('/policies', name), policy) : []),
    ]),
  ];
}

/** Refuses passkeys where there is no page to sign on. */
function checkPasskey(pointer: string, policy: JsonValue | undefined): Finding[] {
  if (policy === undefined) return [];
  const { confirm } = readableParts(Parts, policy);
  const isSigned =
    typeof confirm === 'object' ? Object.values(confirm).includes('passkey') : confirm === 'passkey';
  const message = 'people sign with a passkey on the page, and there is none; add "page" and set PUBLIC_URL';
  return isSigned ? [{ pointer: `${pointer}/confirm`, at: 'value', message }] : [];
}

/** Refuses a name that has another meaning as the word of an approval or of who answers. */
function checkPolicyName(name: string): Finding[] {
  const key = RULE_WORDS.includes(name) ? 'approval' : ANSWERERS.includes(name) ? 'answers' : undefined;
  if (key === undefined) return [];
  const message = `"${key}: ${name}" would not ask this policy; give it another name`;
  return [{ pointer: pointerTo('/policies', name), at: 'key', message }];
}

/** Checks that enough people are named to approve a change of the policies. */
function checkChanges(written: JsonValue | undefined): Finding[] {
  if (written === undefined) return [];
  const { approvers, quorum } = readableParts(Parts, written);
  return approvers === undefined ? [] : checkApprovers('/agent/policy_changes', { approvers, quorum });
}

function checkTimeZone(pointer: string, name: JsonValue | undefined): Finding[] {
  if (typeof name !== 'string' || isTimeZone(name)) return [];
  return [{ pointer: `${pointer}/time_zone`, at: 'value', message: `there is no time zone "${name}"` }];
}

function checkUnfreeze(rule: JsonValue | undefined): Finding[] {
  const { approvers, quorum } = readableParts(Parts, rule ?? null);
  return Array.isArray(approvers) ? checkApprovers('/agent/unfreeze', { approvers, quorum }) : [];
}

function checkPolicy(pointer: string, policy: JsonValue): Finding[] {
  const { approvers, quorum, expires, escalate, risk, time_zone, grants } = readableParts(Parts, policy);
  const written = isJsonObject(policy) ? policy.notify : undefined;
  const { remind, quiet_hours: quiet, load } = readableParts(NotifyFile, written ?? {});
  const findings: Finding[] = checkTimeZone(pointer, time_zone);
  const report = (key: string, message: string): void => {
    findings.push({ pointer: `${pointer}/${key}`, at: 'value', message });
  };
  if (approvers !== undefined) findings.push(...checkApprovers(pointer, { approvers, quorum }));
  if (grants !== undefined && risk === 'high')
    report('grants', 'a high-risk call is never allowed beforehand; remove "grants" or lower the risk');
  const unclear = grants?.when === undefined ? undefined : checkExpression(grants.when, CONDITION);
  if (unclear !== undefined) findings.push({ pointer: `${pointer}/grants/when`, at: 'value', ...unclear });
  findings.push(...checkTimeZone(`${pointer}/notify/quiet_hours`, quiet?.time_zone));
  if (quiet !== undefined && quiet.from === quiet.to)
    report('notify/quiet_hours', 'these hours have no end: "from" and "to" are the same');
  if ((load?.summary?.within ?? 0) > MOST_WITHIN_MS)
    report('notify/load/summary/within', '"within" can be at most 1d');
  const expiresMs = expires ?? DEFAULT_EXPIRES_MS;
  const end = expires === undefined ? 'after 1d, the default' : 'by then';
  if (remind !== undefined && remind >= expiresMs) {
    report('notify/remind', `nobody would be reminded: the request expires ${end}`);
  }
  if (escalate !== undefined && escalate.after >= expiresMs) {
    report('escalate/after', `nobody would be asked: the request expires ${end}`);
  }
  const wrong = risk === undefined ? undefined : checkRisk(risk);
  if (wrong !== undefined) findings.push({ pointer: `${pointer}/risk`, at: 'value', ...wrong });
  return findings;
}

/** Checks a risk: one of the levels, or a CEL expression that gives a text. */
function checkRisk(risk: string): { readonly inside: number; readonly message: string } | undefined {
  if (isRiskLevel(risk)) return undefined;
  const levels = RISK_LEVELS.join(', ');
  if (/^\w+$/.test(risk)) {
    return { inside: 0, message: `"${risk}" is not one of ${levels}${didYouMean(risk, RISK_LEVELS)}` };
  }
  const wrong = checkExpression(risk, {
    what: 'expression',
    types: ['string'],
    expected: `an expression must give one of ${levels}`,
  });
  if (wrong !== undefined) return wrong;
  const other = possibleTexts(risk).find(({ text }) => !isRiskLevel(text));
  if (other === undefined) return undefined;
  const message = `"${other.text}" is not one of ${levels}${didYouMean(other.text, RISK_LEVELS)}`;
  return { inside: other.inside, message };
}

/** The result of an amount. */
export const AMOUNT = {
  what: 'expression',
  types: ['int', 'uint', 'double'],
  expected: 'an amount must be a number',
};

/** The result of a limit's condition, which also knows whether people have approved the call. */
const LIMITED = { ...CONDITION, variable: 'approved' } as const;
/** The result of a freeze's condition on the output of a tool. */
const FROZEN = { ...CONDITION, variable: 'output' } as const;

const LimitParts = LimitFile.partial();
const FreezeParts = FreezeFile.partial();

/** Finds freezes that never hold, and conditions that cannot be evaluated. */
function checkFreezes(freezes: JsonValue | undefined): Finding[] {
  return (Array.isArray(freezes) ? freezes : []).flatMap((written: JsonValue, index): Finding[] => {
    const pointer = `/freezes/${index}`;
    const freeze = readableParts(FreezeParts, written);
    const { from, to, time_zone: zone, while: said } = freeze;
    const zones = checkTimeZone(pointer, zone);
    if (said !== undefined) {
      const beside = from ?? to;
      const wrong = checkExpression(said.when, FROZEN);
      return [
        ...zones,
        ...(beside === undefined
          ? []
          : [{ pointer, at: 'key', message: 'write either "from" and "to" or "while", not both' } as const]),
        ...(wrong === undefined
          ? []
          : [{ pointer: `${pointer}/while/when`, at: 'value', ...wrong } as const]),
      ];
    }
    // A value with a mistake of its own is reported for that.
    if (!isJsonObject(written) || written.while !== undefined) return zones;
    if (written.from === undefined || written.to === undefined)
      return [...zones, { pointer, at: 'key', message: 'say when it holds: "from" and "to", or "while"' }];
    if (from === undefined || to === undefined) return zones;
    const report = (message: string): Finding[] => [
      ...zones,
      { pointer: `${pointer}/to`, at: 'value', message },
    ];
    if (/^\d/.test(from) !== /^\d/.test(to))
      return report('"from" and "to" are both dates, or both days of the week');
    if (from === to) return report('it would end when it begins');
    // Dates have one form, in which later means later in the alphabet.
    return /^\d/.test(from) && to < from ? report(`it would end before it begins (${from})`) : zones;
  });
}

/** A call of `count` or `sum` with the name of its limit, or a text, in which there is none. */
const TOTALS = /(?<![\w.])(?:count|sum)\(\s*(["'])(.*?)\1\s*\)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g;

/** Finds conditions that ask for the total of a limit that there is not: they could never be decided. */
function checkTotals({ tools, policies, limits }: JsonObject): Finding[] {
  const conditions = [
    ...entriesOf(tools).flatMap(([tool, written]) =>
      listRules(
        `${pointerTo('/tools', tool)}/approval`,
        isJsonObject(written) ? written.approval : undefined,
      ).map(({ pointer, value }) => ({
        pointer: `${pointer}/when`,
        text: readableParts(RuleFile, value).when,
      })),
    ),
    ...entriesOf(policies).flatMap(([name, written]) => {
      const { risk, grants } = readableParts(Parts, written);
      const pointer = pointerTo('/policies', name);
      return [
        { pointer: `${pointer}/risk`, text: risk },
        { pointer: `${pointer}/grants/when`, text: grants?.when },
      ];
    }),
  ];
  const names = entriesOf(limits).map(([name]) => name);
  const others = names.length === 0 ? '; there are no limits' : `; the limits are ${names.join(', ')}`;
  return conditions.flatMap(({ pointer, text = '' }) =>
    [...text.matchAll(TOTALS)].flatMap(({ index, 2: name }): Finding[] =>
      name === undefined || names.includes(name)
        ? []
        : [
            {
              pointer,
              at: 'value',
              inside: index,
              message: `there is no limit "${name}"${didYouMean(name, names) || others}`,
            },
          ],
    ),
  );
}

function entriesOf(written: JsonValue | undefined): [string, JsonValue][] {
  return isJsonObject(written) ? Object.entries(written) : [];
}

function checkLimits(limits: JsonValue | undefined, policies: readonly string[]): Finding[] {
  if (!isJsonObject(limits)) return [];
  return Object.entries(limits).flatMap(([name, limit]) => {
    const pointer = pointerTo('/limits', name);
    const { sum, when, policy } = readableParts(LimitParts, limit);
    const findings: Finding[] = [];
    const report = (key: string, message: string) =>
      findings.push({ pointer: `${pointer}/${key}`, at: 'value', message });
    for (const [key, text, expected] of [['sum', sum, AMOUNT] as const, ['when', when, LIMITED] as const]) {
      const wrong = text === undefined ? undefined : checkExpression(text, expected);
      if (wrong !== undefined) findings.push({ pointer: `${pointer}/${key}`, at: 'value', ...wrong });
      if (text !== undefined && usesFirst(text))
        report(key, 'a limit does not know "first"; write it in a rule');
    }
    if (policy !== undefined && !policies.includes(policy))
      report('policy', `there is no policy "${policy}"${didYouMean(policy, policies)}`);
    return findings;
  });
}

/** The result of `from`. */
export const EMAIL = {
  what: 'expression',
  types: ['string', 'list<string>', 'list<dyn>'],
  expected: 'an expression must give an email address or a list of them',
};

/** The result of `from` of those who may not approve. */
export const PEOPLE = {
  ...EMAIL,
  expected: 'an expression must give a member ID or an email address, or a list of them',
};

type Written = Pick<PolicyFile, 'approvers' | 'quorum'>;

/** Checks who must approve: the form, expressions, and that the people who are named can reach the quorum. */
function checkApprovers(pointer: string, written: Written): Finding[] {
  const form = formProblem(written);
  if (form !== undefined) return [{ pointer: `${pointer}${form.key}`, at: 'value', message: form.message }];
  const { groups, excluded } = toApprovers(written);
  const findings = groups.flatMap((group) => [
    ...checkFrom(pointer, group),
    ...checkLookup(pointer, group, groups),
  ]);
  findings.push(...checkNot(pointer, written));
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

/** Checks the templates of a tool that finds the approver. Where the model gives its input, people whom it cannot choose must approve too. */
function checkLookup(
  pointer: string,
  { from, pointer: at }: ApproverGroup,
  groups: readonly ApproverGroup[],
): Finding[] {
  if (typeof from !== 'object') return [];
  const place = `${pointer}${at.replace(/any$/, 'from')}`;
  const texts = Object.entries(from.input).flatMap(([key, text]) =>
    typeof text === 'string' ? [[pointerTo(`${place}/input`, key), text] as const] : [],
  );
  const isChosen = texts.some(([, text]) =>
    placeholdersIn(parseDisplayTemplate(text).template).some(({ root }) => root === 'input'),
  );
  const hasFixed = groups.some((group) => group.from === undefined);
  const message =
    'the model gives this input, so it could choose the approver: write this group under "all", beside one with only "any"';
  return [
    ...texts.flatMap(([key, text]) => checkTemplate(key, text, ['input', 'requester'])),
    ...checkTemplate(`${place}/email`, from.email, ['output']),
    ...(isChosen && !hasFixed ? [{ pointer: `${place}/input`, at: 'value', message } as const] : []),
  ];
}

function checkTemplate(pointer: string, text: string, roots: readonly TemplateRoot[]): Finding[] {
  const { template, problems } = parseDisplayTemplate(text);
  const wrong = placeholdersIn(template)
    .filter(({ root }) => !roots.includes(root))
    .map(({ offset, root }) => ({ offset, message: `there is no {{${root}.…}} here` }));
  return [...problems, ...wrong].map(({ offset, message }) => ({
    pointer,
    at: 'value',
    message,
    inside: offset,
  }));
}

function checkNot(pointer: string, { approvers }: Written): Finding[] {
  const not = Array.isArray(approvers) ? undefined : approvers.not;
  const from = not === undefined || Array.isArray(not) ? undefined : not.from;
  if (from === undefined) return [];
  const place = { pointer: `${pointer}/approvers/not/from`, at: 'value' } as const;
  if (/^[UWS][A-Z0-9]{6,20}$/.test(from))
    return [{ ...place, message: `this is an id and no argument of the call; write not: [${from}]` }];
  const wrong = checkExpression(from, PEOPLE);
  return wrong === undefined ? [] : [{ ...place, ...wrong }];
}

function checkFrom(pointer: string, { from, pointer: at }: ApproverGroup): Finding[] {
  const wrong = typeof from === 'string' ? checkExpression(from, EMAIL) : undefined;
  if (wrong === undefined) return [];
  return [{ pointer: `${pointer}${at.replace(/any$/, 'from')}`, at: 'value', ...wrong }];
}

/** Describes that too few people are named; user groups and people of the call may be any number. */
export function shortageOf(
  groups: readonly ApproverGroup[],
  excluded: readonly string[],
): string | undefined {
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
