import type { JsonObject } from '../../../agent/json.ts';
import type { Finding } from '../problem.ts';

/** An issuer whose tokens are known. */
interface Issuer {
  readonly name: string;
  readonly address: RegExp;
  /** Everybody with a token of this issuer. */
  readonly everybody: string;
  /** Claims whose value belongs to one customer, project or account only; the first is the one to suggest. */
  readonly naming: readonly string[];
}

/**
 * The known issuers. A claim that others can have too is not in its list: a user name, whose owner may start jobs of other people's
 * projects, a reusable workflow, which any repository may call, and an address that people can change.
 */
const ISSUERS: readonly Issuer[] = [
  {
    name: 'GitHub Actions',
    address: /^https:\/\/(?:token\.actions\.githubusercontent\.com(?:\/|$)|[^/]+\/_services\/token\/?$)/,
    everybody: 'every repository on GitHub',
    naming: [
      ...['repository', 'repository_id', 'repository_owner', 'repository_owner_id'],
      ...['sub', 'workflow_ref', 'enterprise', 'enterprise_id'],
    ],
  },
  {
    name: 'GitLab',
    address: /^https:\/\/gitlab\.com\/?$/,
    everybody: 'every project on GitLab',
    naming: ['project_path', 'project_id', 'namespace_path', 'namespace_id', 'sub'],
  },
  {
    name: 'Google',
    address: /^https:\/\/accounts\.google\.com\/?$/,
    everybody: 'every Google account',
    naming: ['email', 'sub', 'hd'],
  },
  {
    name: 'Buildkite',
    address: /^https:\/\/agent\.buildkite\.com\/?$/,
    everybody: 'every organization on Buildkite',
    naming: ['organization_slug', 'organization_id', 'pipeline_id', 'sub'],
  },
  {
    name: 'CircleCI',
    address: /^https:\/\/oidc\.circleci\.com\//,
    everybody: 'every project of the organization on CircleCI',
    naming: ['oidc.circleci.com/project-id', 'sub'],
  },
  {
    name: 'Azure DevOps',
    address: /^https:\/\/vstoken\.dev\.azure\.com\//,
    everybody: 'every pipeline of the organization on Azure DevOps',
    naming: ['sub'],
  },
  {
    name: 'Microsoft Entra',
    address: /^https:\/\/(?:login\.microsoftonline\.com|sts\.windows\.net)\//,
    everybody: 'every account and app of the tenant',
    naming: ['oid', 'sub', 'azp', 'appid'],
  },
  {
    name: 'Bitbucket',
    address: /^https:\/\/api\.bitbucket\.org\/2\.0\/workspaces\//,
    everybody: 'every repository of the workspace on Bitbucket',
    naming: ['repositoryUuid', 'workspaceUuid', 'sub'],
  },
];

/** Claims that name somebody in the tokens of most issuers, or of a known one under an address of its own. */
const NAMING = new Set(['sub', 'email', 'client_id', ...ISSUERS.flatMap(({ naming }) => naming)]);

/** Finds claims that name nobody: an error if the tokens of the issuer are known, else a warning. */
export function checkClaims(
  pointer: string,
  issuer: string,
  claims: JsonObject,
): { readonly findings: readonly Finding[]; readonly warnings: readonly Finding[] } {
  const known = ISSUERS.find(({ address }) => address.test(issuer));
  const isNamed = Object.keys(claims).some((claim) =>
    known === undefined ? NAMING.has(claim) : known.naming.includes(claim),
  );
  if (isNamed) return { findings: [], warnings: [] };
  if (known === undefined) {
    const message =
      'none of these claims seems to name somebody, so others with a token of this issuer may get in; add "sub" or another that only this caller has';
    return { findings: [], warnings: [{ pointer, at: 'value', message }] };
  }
  const [first, ...others] = known.naming.map((claim) => `"${claim}"`);
  const either = others.length === 0 ? '' : ` (or ${others.join(', ')})`;
  const message = `${known.everybody} gets in, because no claim says whose token it is; add ${first}${either}`;
  return { findings: [{ pointer, at: 'value', message }], warnings: [] };
}
