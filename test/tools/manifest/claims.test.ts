import { describe, expect, test } from 'vitest';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';

/** The findings in a manifest whose only caller has tokens of an issuer. */
function check(issuer: string, claims: Readonly<Record<string, string>>) {
  const oidc = JSON.stringify({ issuer, audience: 'countersign', claims });
  const text = `policies: { default: { approvers: [U034GHIJKL] } }
agent: { instructions: Help. }
callers:
  ci: { owner: U012ABCDEF, channel: C012ABCDEF, ask: [default], identity: { oidc: ${oidc} } }
`;
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
  return {
    errors: (parsed.ok ? [] : parsed.problems).map(formatProblem),
    warnings: parsed.warnings.map(formatProblem),
  };
}

const NONE = { errors: [], warnings: [] };
const GITHUB = 'https://token.actions.githubusercontent.com';

/** Each known issuer, with a claim that anybody can have, who would get in, and the claims that name somebody. */
const KNOWN = [
  {
    issuer: GITHUB,
    anybody: { ref: 'refs/heads/main' },
    everybody: 'every repository on GitHub',
    naming: ['repository', 'repository_id', 'repository_owner', 'repository_owner_id', 'sub', 'workflow_ref'],
  },
  {
    issuer: `${GITHUB}/acme`,
    anybody: { job_workflow_ref: 'acme/shared/.github/workflows/deploy.yml@refs/heads/main' },
    everybody: 'every repository on GitHub',
    naming: ['repository', 'sub', 'enterprise', 'enterprise_id'],
  },
  {
    issuer: 'https://github.example.com/_services/token',
    anybody: { actor: 'alice' },
    everybody: 'every repository on GitHub',
    naming: ['repository', 'sub'],
  },
  {
    issuer: 'https://gitlab.com',
    anybody: { ref: 'main', ref_protected: 'true', user_login: 'alice' },
    everybody: 'every project on GitLab',
    naming: ['project_path', 'project_id', 'namespace_path', 'namespace_id', 'sub'],
  },
  {
    issuer: 'https://accounts.google.com',
    anybody: { azp: 'some-client' },
    everybody: 'every Google account',
    naming: ['email', 'sub', 'hd'],
  },
  {
    issuer: 'https://agent.buildkite.com',
    anybody: { pipeline_slug: 'deploy', build_branch: 'main' },
    everybody: 'every organization on Buildkite',
    naming: ['organization_slug', 'organization_id', 'pipeline_id', 'sub'],
  },
  {
    issuer: 'https://oidc.circleci.com/org/5e6f',
    anybody: { 'oidc.circleci.com/vcs-ref': 'refs/heads/main' },
    everybody: 'every project of the organization on CircleCI',
    naming: ['oidc.circleci.com/project-id', 'sub'],
  },
  {
    issuer: 'https://vstoken.dev.azure.com/5e6f',
    anybody: { ref: 'refs/heads/main' },
    everybody: 'every pipeline of the organization on Azure DevOps',
    naming: ['sub'],
  },
  {
    issuer: 'https://login.microsoftonline.com/5e6f/v2.0',
    anybody: { tid: '5e6f', email: 'alice@example.com' },
    everybody: 'every account and app of the tenant',
    naming: ['oid', 'sub', 'azp', 'appid'],
  },
  {
    issuer: 'https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc',
    anybody: { branchName: 'main' },
    everybody: 'every repository of the workspace on Bitbucket',
    naming: ['repositoryUuid', 'workspaceUuid', 'sub'],
  },
];

describe.each(KNOWN)('tokens of $issuer', ({ issuer, anybody, everybody, naming }) => {
  test('with claims that anybody can have are an error that says what to add', () => {
    const { errors, warnings } = check(issuer, anybody);
    expect(warnings).toEqual([]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`callers.ci.identity.oidc.claims: ${everybody} gets in`);
    expect(errors[0]).toContain(`add "${naming[0]}"`);
  });

  test.each(naming)('with %s are fine', (claim) => {
    expect(check(issuer, { ...anybody, [claim]: 'acme' })).toEqual(NONE);
  });
});

test('an unknown issuer whose claims seem to name nobody is a warning', () => {
  const { errors, warnings } = check('https://ci.example.com', { branch: 'main' });
  expect(errors).toEqual([]);
  expect(warnings).toEqual([
    expect.stringMatching(/^manifest\.yml:4:\d+: callers\.ci\.identity\.oidc\.claims: none of these claims/),
  ]);
});

test.each(['sub', 'email', 'client_id', 'repository', 'project_path'])(
  'an unknown issuer with %s is fine',
  (claim) => {
    expect(check('https://ci.example.com', { branch: 'main', [claim]: 'acme' })).toEqual(NONE);
  },
);

test('an address that only begins like that of a known issuer is an unknown one', () => {
  expect(check(`${GITHUB}.example.com`, { ref: 'refs/heads/main' }).errors).toEqual([]);
});
