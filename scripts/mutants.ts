import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A check that is removed or weakened: the text in `src`, what stands in its place, and the quick tests of which one must fail. */
export interface Mutant {
  readonly name: string;
  readonly text: string;
  readonly becomes: string;
  readonly tests: readonly string[];
}

const CHECKS = 'test/oracle/checks.test.ts';
const GRANTS = 'test/policy/grants.test.ts';
const RULES = 'test/policy/rules.test.ts';
const DIGEST = 'test/tools/toolbox/request-digest.test.ts';
const GATE = 'test/tools/gate/reference.test.ts';
const DELEGATIONS = 'test/store/delegations.test.ts';
const EXPORT = 'test/audit/export-progress.test.ts';
const CALLERS = 'test/stories/door-callers.test.ts';
const PASSKEYS = 'test/page/passkey-refusals.test.ts';

const mutant = (name: string, text: string, becomes: string, ...tests: readonly string[]): Mutant => ({
  name,
  text,
  becomes,
  tests: tests.length === 0 ? [CHECKS] : tests,
});

/** All of them. */
export const MUTANTS: readonly Mutant[] = [
  mutant(
    'grant for anybody',
    'requesters.every((person) => grant.requesters.includes(person)) &&',
    '',
    CHECKS,
    GRANTS,
  ),
  mutant(
    'grant after words of anybody',
    'contextAuthors.every((person) => everyone.includes(person)) &&',
    '',
    GRANTS,
  ),
  mutant(
    'grant outlives the right of its approvers',
    'signers.every(({ permission }) => permission.eligible) &&',
    '',
  ),
  mutant('grant whose approvers no longer fill its groups', ' && fillAllGroups(groups, signers);', ';'),
  mutant('grant for a changed tool', 'grant.definition === definition &&', '', CHECKS, GRANTS),
  mutant('grant under a changed policy', 'grant.policyDigest === policyDigest &&', '', CHECKS, GRANTS),
  mutant('grant for another tool', 'grant.tool === tool &&', '', GRANTS),
  mutant('grant for what others approve', 'groupsKey(grant.groups) === groupsKey(groups) &&', '', GRANTS),
  mutant('grant for another thread', "(grant.scope === 'requester' || grant.threadId === threadId) &&", ''),
  mutant('grant for high risk', "riskOf(policy.risk, timed) !== 'high' &&", '', GRANTS),
  mutant('grant for other arguments', 'isMeant(grant, timed)\n', 'true\n', CHECKS, GRANTS),
  mutant(
    'grant over a limit',
    "verdict.outcome === 'ask' && resumed === undefined && verdict.overLimit !== true",
    "verdict.outcome === 'ask' && resumed === undefined",
    'test/tools/gate/gate.test.ts',
  ),
  mutant(
    'grant for an edited call',
    "verdict.outcome === 'ask' && resumed === undefined && verdict.overLimit !== true",
    "verdict.outcome === 'ask' && verdict.overLimit !== true",
  ),
  mutant(
    'any approval opens the way for any manifest',
    'recorded?.approved !== changeKey(held)',
    'recorded?.approved === undefined',
    'test/tools/manifest/govern.test.ts',
    'test/tools/watch-manifest.test.ts',
  ),
  mutant(
    'signer continues a checkpoint with a wrong signature',
    'if (last === undefined || problem !== undefined) return',
    'if (last === undefined) return',
    'test/audit/signer.test.ts',
  ),
  mutant(
    'click of another workspace',
    'if (isForeign && !(await isForeignRequester(context, request, click))) {',
    'if (isForeign && request === undefined) {',
  ),
  mutant(
    'click where no card is',
    'if (request.views.some(isShown)) return undefined;',
    'if (request.views.length > 0) return undefined;',
  ),
  mutant(
    'start that was answered too late',
    'if (!isInTime(sentAt, timing.heartbeatTimeoutMs))',
    'if (sentAt < 0)',
  ),
  mutant(
    'start for a requester who is gone',
    "return (await people.mayAllAsk(requesters, channel)) ? undefined : { code: 'requester-inactive' };",
    'await people.mayAllAsk(requesters, channel);\n    return undefined;',
  ),
  mutant(
    'start with the digest on record',
    "digest !== run.request.digest)\n      return { code: 'changed', change: changeOf(context, run) };\n    plan.digest = digest;",
    "run.entry === undefined)\n      return { code: 'changed', change: changeOf(context, run) };\n    plan.digest = run.request.digest;",
  ),
  mutant(
    'start with approvers who may no longer',
    'const eligible = checked.filter((person) => person.eligible);',
    'const eligible = checked;',
  ),
  mutant('start over a limit', 'max: isAllowedOver(limit) ? undefined : limit.max,', 'max: undefined,'),
  mutant(
    'any policy allows what is over a limit',
    'if (limit.policy === undefined || approvedUnder === undefined) return false;',
    'if (approvedUnder !== undefined) return true;',
  ),
  mutant(
    'no limit before the start',
    'return amount === undefined || total.sum + amount > limit.max;',
    'return amount === undefined && total.sum > limit.max;',
    CHECKS,
    'test/oracle/oracle.test.ts',
  ),
  mutant(
    'preview is not computed again',
    'if (JSON.stringify(current) === JSON.stringify(approved)) return undefined;',
    'if (current !== undefined) return undefined;',
    'test/stories/pairs/preview.test.ts',
  ),
  mutant('deactivated people approve', "if (isDeactivated) return refuse('deactivated', found);", ''),
  mutant('bots approve', "if (isBot) return refuse('bot', found);", ''),
  mutant(
    'people of other workspaces approve',
    "if (isStranger && !outsiders) return refuse('other-workspace', found);",
    '',
  ),
  mutant('guests approve', "if (isGuest && !outsiders) return refuse('guest', found);", ''),
  mutant(
    'excluded people approve',
    "if (await directory.isAmong(who, excluded)) return refuse('not-approver', found);",
    '',
    'test/stories/approver-groups.test.ts',
    CHECKS,
  ),
  mutant(
    'anybody approves',
    "    return refuse('not-approver', found);\n  } catch",
    '    return { eligible: true, evidence: found };\n  } catch',
  ),
  mutant(
    'people of the thread approve',
    "...(policy.separation === 'thread' ? contextAuthors : []),\n      ...excluded.filter(",
    '...excluded.filter(',
  ),
  mutant(
    'delegate of somebody who may not',
    'const refused = own.eligible ? delegator : own;',
    'const refused = own;',
  ),
  mutant(
    'anybody edits',
    'if (problem !== undefined && !request.requesters.includes(click.who))',
    "if (click.who === '')",
  ),
  mutant(
    'an unchanged edit makes a requester',
    'if (isSameCall(context.toolbox, request, input)) return noticeTexts.unchanged;',
    '',
  ),
  mutant(
    'an editor is no requester',
    'requesters: [...new Set([...requesters, editor])],',
    'requesters,',
    'test/tools/gate/gate.test.ts',
  ),
  mutant(
    'an edited call runs where no rule asks',
    "if (resumed !== undefined && 'policy' in resumed && editor !== undefined) {",
    "if (resumed?.decision === 'none') {",
    'test/tools/gate/gate.test.ts',
    'test/tools/gate/fuzz.test.ts',
  ),
  mutant('gate without allow', 'if (!allows(place))\n', 'if (place.channel === undefined)\n', GATE),
  mutant(
    'gate without deny',
    "if (verdict.outcome === 'deny') return helpers.deny(verdict.reason);",
    '',
    GATE,
  ),
  mutant(
    'rules for the first requester only',
    'const people = [...call.requesters, ...call.contextAuthors];',
    'const people = call.requesters.slice(0, 1);',
  ),
  mutant(
    'one person denies, another does not',
    "const denied = verdicts.find(({ outcome }) => outcome === 'deny');",
    "const denied = verdict.outcome === 'deny' ? verdict : undefined;",
  ),
  mutant(
    'the weakest policy of several',
    'return allPolicies(needed);',
    "return needed[0] ?? '';",
    GATE,
    'test/policy/strictest.test.ts',
  ),
  mutant(
    'a condition that cannot be evaluated is false',
    "if (first === undefined || decided.outcome === 'deny') return decided;",
    "if (decided.outcome !== 'none') return decided;",
    RULES,
    GATE,
  ),
  mutant(
    'a list without a decision runs',
    'inDoubt(doubts, decided ?? UNDECIDED)',
    "inDoubt(doubts, decided ?? { outcome: 'run', rule: '' })",
    RULES,
    GATE,
  ),
  mutant(
    'digest without the arguments',
    '    verdict: verdictFields(verdict),\n    arguments: input,',
    '    verdict: verdictFields(verdict),',
    DIGEST,
  ),
  mutant(
    'digest without the definition',
    '    definition: definitionDigest(entry),\n    policy_definition',
    '    policy_definition',
    DIGEST,
  ),
  mutant('digest without the policy', '    policy_definition: policy && policyDigest(policy),\n', '', DIGEST),
  mutant(
    'digest without the words on the card',
    '    title,\n    target,\n    shown: given.presented && shown,\n',
    '',
    DIGEST,
  ),
  mutant(
    'digest without the requesters',
    '    requesters,\n    barred: listed(barred),',
    '    barred: listed(barred),',
    DIGEST,
  ),
  mutant(
    "a person's account for words of others",
    'return [...requesters, editor ?? requester].some((person) => person !== requester);',
    'return false;',
    'test/stories/accounts/connect.test.ts',
  ),
  mutant(
    'callback without a signature',
    ' || !timingSafeEqual(given, expected)',
    '',
    'test/bot/slack/callback-urls.test.ts',
  ),
  mutant(
    'event without a signature',
    "return { ok: false, problem: 'The signature of the request is wrong.' };",
    'return { ok: true, signature };',
    'test/bot/slack/http.test.ts',
  ),
  mutant(
    'start in a turn that was answered too late',
    'if (this.#lease.mayStart()) return true;',
    'if (mayHaveRun || !mayHaveRun) return true;',
  ),
  mutant('delegation that is over', "if (until <= Date.now()) return 'over' as const;", '', DELEGATIONS),
  mutant(
    'anybody ends a delegation',
    "if (who !== from && who !== current.to && !isAdmin) return 'not-eligible' as const;",
    '',
    DELEGATIONS,
  ),
  mutant(
    'the end of a delegation that was not shown',
    '(shown !== undefined && shown !== current.id)',
    'false',
    DELEGATIONS,
  ),
  mutant('a delegation ends twice', "if (version === id) return 'changed';", '', DELEGATIONS),
  mutant(
    'a change of delegations over that of another process',
    'document, { replaces: version, audit }',
    'document, { audit }',
    DELEGATIONS,
  ),
  mutant('two exporters', "lease, { replaces: '', forMs: leaseMs }", 'lease, { forMs: leaseMs }', EXPORT),
  mutant('progress over that of another process', 'document, { replaces: former }', 'document', EXPORT),
  mutant(
    'caller with a tool that was taken from it',
    'callers.find((name) => mayCallerCall(name) !== true);',
    'callers.find(() => false);',
    CALLERS,
    'test/door/callers.test.ts',
  ),
  mutant(
    'token for a second change',
    "document, options)) === 'written';",
    'document, options)) !== undefined;',
    CALLERS,
  ),
  mutant('token of a caller of any age', 'maxTokenAge: MAX_TOKEN_AGE_S,', '', CALLERS),
  mutant(
    'caller whose owner is gone',
    'if (!(await mayAsk(caller.owner, caller.channel)))',
    "if (caller.owner === '')",
    CALLERS,
  ),
  mutant(
    'webhook that redirects',
    "body,\n        redirect: 'manual',\n      });\n      await response.body?.cancel();",
    'body,\n      });\n      await response.body?.cancel();',
    CALLERS,
  ),
  mutant(
    'passkey that signed something else',
    "if (canonicalJson({ ...terms }) !== canonicalJson({ ...expected })) return 'not-as-shown';",
    '',
    PASSKEYS,
  ),
  mutant(
    'passkey whose counter goes back',
    "return isCounterAhead(held.counter, counterOf(proof)) ? undefined : 'counter';",
    'return undefined;',
    PASSKEYS,
  ),
  mutant(
    'start with a passkey that is gone',
    "return people.length === 0 ? undefined : { code: 'unproven', people };",
    'return undefined;',
    PASSKEYS,
  ),
  mutant(
    'delegation that the approver did not sign',
    'if (policy.passkey !== true) return true;',
    'return true;',
    'test/page/signed-delegation.test.ts',
  ),
  mutant(
    'start on a delegation whose key is gone',
    'return standsFor === undefined || isSignedFor(store, proof, standsFor, policyName);',
    'return true;',
    'test/page/signed-delegation.test.ts',
  ),
  mutant(
    'delegation that was signed for another policy',
    'policiesNamed(policyName).every((name) => terms.policies.includes(name))',
    'true',
    'test/page/signed-delegation.test.ts',
  ),
  mutant(
    'start with a passkey that signed something else',
    'const isThis = terms.request === id && terms.digest === digest;',
    'const isThis = true;',
    PASSKEYS,
  ),
  mutant(
    'cancelled call of a client that stays open',
    'if (signal.aborted && isLast && !this.#door.isClosed)',
    'if (false)',
    'test/stories/door-cancel.test.ts',
  ),
  mutant(
    'row that is hidden as erased',
    'named.some(([first, last]) => first <= seq && seq <= last)',
    'true',
    'test/audit/erase.test.ts',
  ),
  mutant(
    'link as it was typed',
    '.url({ normalize: true })\n      .max(500)',
    '.url()\n      .max(500)',
    'test/stories/door.test.ts',
  ),
];

/** Finds the one file under `src` that holds a text once. */
export function findFile(root: string, text: string): string | undefined {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(root, 'src', path))
    .filter((path) => readFileSync(path, 'utf8').includes(text));
  const [file, ...others] = files;
  const isUnique =
    file !== undefined && others.length === 0 && readFileSync(file, 'utf8').split(text).length === 2;
  return isUnique ? file : undefined;
}
