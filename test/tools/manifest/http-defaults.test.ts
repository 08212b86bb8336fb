import { expect, test } from 'vitest';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';

const environment = { API_KEY: 'key-of-the-api', CLIENT_SECRET: 'secret-of-the-client' };
const read = (text: string) => parseManifest(text, { file: 'test.yml', environment });
const problemsOf = (text: string) => {
  const parsed = read(text);
  return parsed.ok ? [] : parsed.problems.map(formatProblem);
};
const definitionOf = (text: string, name: string) => {
  const parsed = read(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  const tool = parsed.manifest.tools.find((each) => each.name === name);
  return tool?.kind === 'http' ? { ...tool.definition, asWritten: tool.asWritten } : undefined;
};

const MANIFEST = `policies: { default: { approvers: [S0APPROVE1] } }
http_defaults:
  base_url: https://api.example.com/v1/
  headers: { X-Key: "\${API_KEY}", accept: application/json }
  timeout: 10s
tools:
  orders: { description: Reads., http: { method: GET, url: /orders } }
  deploy:
    description: Deploys.
    http:
      method: POST
      url: /deployments
      headers: { x-key: other }
      auth: { token_url: "https://login.example.com/token", client_id: bot, client_secret: "\${CLIENT_SECRET}" }
      poll: { for: 10m, url: "/jobs/{{output.id}}", while: { status: [queued] } }
  status: { description: Reads., http: { method: GET, url: "https://status.example.com/now" } }
`;

test('what HTTP tools share is filled into those whose url is a path', () => {
  expect(definitionOf(MANIFEST, 'orders')).toMatchObject({
    url: 'https://api.example.com/v1/orders',
    headers: { 'X-Key': 'key-of-the-api', accept: 'application/json' },
    timeoutMs: 10_000,
  });
});

test('what a tool says itself goes first, and its poll starts from the same address', () => {
  const definition = definitionOf(MANIFEST, 'deploy');
  expect(definition).toMatchObject({
    headers: { 'x-key': 'other', accept: 'application/json' },
    auth: { tokenUrl: 'https://login.example.com/token', clientSecret: 'secret-of-the-client' },
    poll: { everyMs: 5_000, forMs: 600_000, url: 'https://api.example.com/v1/jobs/{{output.id}}' },
  });
  expect(Object.keys(definition?.headers ?? {})).not.toContain('X-Key');
});

test('a tool with an address of its own gets none of it', () => {
  expect(definitionOf(MANIFEST, 'status')).not.toHaveProperty('headers');
  expect(definitionOf(MANIFEST, 'status')).not.toHaveProperty('timeoutMs');
});

test('an approval is bound to what is filled in, with names in place of secrets', () => {
  const written = JSON.stringify(definitionOf(MANIFEST, 'orders')?.asWritten);
  expect(written).toContain('https://api.example.com/v1/orders');
  expect(written).toContain(`\${API_KEY}`);
  expect(written).not.toContain('key-of-the-api');
});

test.each([
  [
    'a path without an address',
    MANIFEST.replace(/http_defaults:\n( {2}.*\n){3}/, ''),
    /test\.yml:3:60: .*a path needs the address/,
  ],
  [
    'a secret over http://',
    MANIFEST.replace('https://api.', 'http://api.'),
    /test\.yml:7:60: .*a secret would be sent unencrypted/,
  ],
  [
    'a literal secret',
    MANIFEST.replace(`"\${API_KEY}", accept`, '"x", x-api-key: opensesame, accept'),
    /test\.yml:4:37: .*"x-api-key" holds a secret/,
  ],
  [
    'both an Authorization header and auth',
    MANIFEST.replace('{ x-key: other }', `{ authorization: "Bearer \${API_KEY}" }`),
    /test\.yml:14:7: .*an Authorization header or "auth", not both/,
  ],
  ['a poll without an end', MANIFEST.replace('for: 10m, ', ''), /test\.yml:15:7: .*"for" is missing/],
])('%s is found', (_name, text, says) => {
  expect(problemsOf(text)).toEqual(expect.arrayContaining([expect.stringMatching(says)]));
});
