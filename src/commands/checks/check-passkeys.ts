import { isIP } from 'node:net';
import { pointerTo } from '../../agent/json.ts';
import { countsNow, readPasskeys } from '../../engine/passkeys.ts';
import { confirmFor, type Policy, RISK_LEVELS } from '../../policy/policy.ts';
import type { Store } from '../../store/port/store.ts';
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
  const signed = [...(loaded?.manifest.policies.values() ?? [])].filter(({ confirm }) =>
    RISK_LEVELS.some((risk) => confirmFor(confirm, risk) === 'passkey'),
  );
  if (loaded === undefined || signed.length === 0) return [];
  const { SLACK_BOT_TOKEN: token = '', REDIS_URL: redis = '', PUBLIC_URL: url = '' } = context.environment;
  if (token === '' || redis === '') return [notChecked(PASSKEYS, 'SLACK_BOT_TOKEN or REDIS_URL is not set')];
  try {
    const workspace = await openWorkspace(token, context.environment);
    if (workspace === undefined) return [notChecked(PASSKEYS, 'the token is rejected')];
    const found = await withRecord(context, async ({ store }) => {
      const findings = [];
      for (const policy of signed) findings.push(await inspectKeys(policy, workspace, store, loaded));
      return findings.flat();
    });
    const findings = [...addressProblems(url), ...found];
    return findings.length > 0 ? findings : [ok(PASSKEYS, 'all approvers who sign have one')];
  } catch (error) {
    return [failed(PASSKEYS, firstLineOf(error))];
  }
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
  { name, groups }: Policy,
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
  if (without.length === 0) return [];
  const quorum = groups.reduce((sum, group) => sum + group.quorum, 0);
  const able = people.length - without.length;
  const isStuck = able < quorum && groups.every(({ from }) => from === undefined);
  const message = `no passkey that counts: ${without.join(', ')}${isStuck ? `; ${quorum} must approve, and ${able} can sign` : ''}`;
  const placed: PlacedProblem = {
    pointer: pointerTo('/policies', name),
    severity: isStuck ? 'error' : 'warning',
    message,
    fix: 'they type /countersign passkey in Slack',
  };
  return [toFinding(PASSKEYS, placed, loaded)];
}
