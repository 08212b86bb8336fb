import { isIP } from 'node:net';
import { pointerTo } from '../../agent/json.ts';
import { countsNow, readPasskeys } from '../../engine/passkeys.ts';
import { delegationCounts } from '../../engine/signed-delegations.ts';
import { isSigned, type Policy } from '../../policy/policy.ts';
import { type Delegation, readDelegations } from '../../store/documents/delegations.ts';
import type { Store } from '../../store/port/store.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import type { CommandContext } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { nameOf, openWorkspace, peopleOf, type Workspace } from './check-people.ts';
import { type Finding, failed, firstLineOf, notChecked, ok } from './finding.ts';
import { type LoadedManifest, type PlacedProblem, toFinding } from './inspect-manifest.ts';

const PASSKEYS = 'passkeys';

/** Names, for each policy whose approvals are signed, the approvers who cannot sign yet; without such a policy there is nothing to say. */
export async function checkPasskeys(
  context: CommandContext,
  loaded: LoadedManifest | undefined,
): Promise<Finding[]> {
  const signed = policiesIn(loaded?.manifest).filter(({ policy }) => isSigned(policy));
  if (loaded === undefined || signed.length === 0) return [];
  const { SLACK_BOT_TOKEN: token = '', REDIS_URL: redis = '', PUBLIC_URL: url = '' } = context.environment;
  if (token === '' || redis === '') return [notChecked(PASSKEYS, 'SLACK_BOT_TOKEN or REDIS_URL is not set')];
  try {
    const workspace = await openWorkspace(token, context.environment);
    if (workspace === undefined) return [notChecked(PASSKEYS, 'the token is rejected')];
    const found = await withRecord(context, async ({ store }) => {
      const findings = [];
      for (const each of signed) findings.push(await inspectKeys(each, workspace, store, loaded));
      return findings.flat();
    });
    const findings = [...addressProblems(url), ...found];
    return findings.length > 0 ? findings : [ok(PASSKEYS, 'all approvers who sign have one')];
  } catch (error) {
    return [failed(PASSKEYS, firstLineOf(error))];
  }
}

interface PlacedPolicy {
  readonly pointer: string;
  readonly policy: Policy;
}

/** Lists the policies of a manifest with their places, the one under which policies are changed among them. */
function policiesIn(manifest: Manifest | undefined): PlacedPolicy[] {
  if (manifest === undefined) return [];
  const { policies, agent } = manifest;
  const changes = agent.policyChanges?.policy;
  return [
    ...[...policies.values()].map((policy) => ({ pointer: pointerTo('/policies', policy.name), policy })),
    ...(changes === undefined ? [] : [{ pointer: '/agent/policy_changes', policy: changes }]),
  ];
}

/** A passkey belongs to a name of the web: browsers make none for the number of a machine. */
function addressProblems(url: string): Finding[] {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '';
  if (host !== '' && isIP(host) === 0) return [];
  const what = host === '' ? 'PUBLIC_URL is not set' : `PUBLIC_URL has the number ${host} and no name`;
  return [failed(PASSKEYS, `${what}, so nobody can sign`, { fix: 'set it to the https address of the bot' })];
}

/** Too few who can sign is an error: nothing of this policy can be approved. */
async function inspectKeys(
  { pointer, policy: { groups, ...policy } }: PlacedPolicy,
  workspace: Workspace,
  store: Store,
  loaded: LoadedManifest,
): Promise<Finding[]> {
  const known = await peopleOf(
    groups.flatMap(({ any }) => any),
    workspace,
  );
  if (known === undefined) return [notChecked(PASSKEYS, 'the app lacks the scope for usergroups.list')];
  const people = [...known];
  const without: string[] = [];
  for (const who of people) {
    const { keys } = await readPasskeys(store, who);
    if (!keys.some((key) => countsNow(key)))
      without.push(`${(await nameOf(who, workspace)) ?? who} (${who})`);
  }
  const unsigned = await unsignedDelegations(store, policy, people);
  const delegations = unsigned.map(({ from, to }) =>
    toFinding(
      PASSKEYS,
      {
        pointer,
        severity: 'warning',
        message: `${from} lets ${to} decide and has not signed it, so it does not count here`,
        fix: 'they type /countersign delegate again and sign it',
      },
      loaded,
    ),
  );
  if (without.length === 0) return delegations;
  const quorum = groups.reduce((sum, group) => sum + group.quorum, 0);
  const able = people.length - without.length;
  const isStuck = able < quorum && groups.every(({ from }) => from === undefined);
  const message = `no passkey that counts: ${without.join(', ')}${isStuck ? `; ${quorum} must approve, and ${able} can sign` : ''}`;
  const placed: PlacedProblem = {
    pointer,
    severity: isStuck ? 'error' : 'warning',
    message,
    fix: 'they type /countersign passkey in Slack',
  };
  return [toFinding(PASSKEYS, placed, loaded), ...delegations];
}

/** Lists the delegations of approvers that do not count under a policy, because no passkey has signed them. */
async function unsignedDelegations(
  store: Store,
  { name, delegation }: Pick<Policy, 'name' | 'delegation'>,
  approvers: readonly string[],
): Promise<readonly Delegation[]> {
  if (delegation !== true) return [];
  const rules = { policy: { delegation, passkey: true as const }, policyName: name };
  const given = (await readDelegations(store)).filter(
    ({ from, policies }) => approvers.includes(from) && policies?.includes(name) !== false,
  );
  const counting = await Promise.all(given.map((each) => delegationCounts(store, each, rules)));
  return given.filter((_, index) => counting[index] !== true);
}
