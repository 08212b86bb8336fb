import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { startCalling, WITH_CALLERS } from './calling.ts';
import { linesOf, temporaryFolder } from './shell.ts';
import { CAST } from './support.ts';

const Action = z.object({
  inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string().optional() }).loose()),
  runs: z.object({
    using: z.literal('composite'),
    steps: z.tuple([
      z.strictObject({ shell: z.literal('bash'), env: z.record(z.string(), z.string()), run: z.string() }),
    ]),
  }),
});
const action = Action.parse(parse(readFileSync(new URL('../../action.yml', import.meta.url), 'utf8')));
const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** Stands in for GitHub: its issuer of tokens, and the address where a job gets one. */
async function startGithub() {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256' };
  const issued: string[] = [];
  const server = createServer(async ({ url: path = '', headers }, response) => {
    const asked = new URL(path, 'http://localhost');
    if (asked.pathname === '/keys') return response.end(JSON.stringify({ keys: [jwk] }));
    if (asked.pathname !== '/token')
      return response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }));
    issued.push(`${headers.authorization} ${asked.searchParams.get('audience')}`);
    const value = await new SignJWT({ repository: 'acme/api' })
      .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
      .setIssuer(url)
      .setAudience(asked.searchParams.get('audience') ?? '')
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey);
    return response.end(JSON.stringify({ value }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, issued };
}

test('no input is part of the script, and every input reaches it', () => {
  const [{ env, run }] = action.runs.steps;
  expect(run).not.toContain('${{');
  const passed = Object.values(env).map((value) => /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(value)?.[1]);
  expect(passed.toSorted()).toEqual(Object.keys(action.inputs).toSorted());
  for (const name of Object.keys(env)) expect(`${run} COUNTERSIGN_URL COUNTERSIGN_AUDIENCE`).toContain(name);
});

test('a job proves who it is with its own tokens, waits for people, and runs the command once', async () => {
  const github = await startGithub();
  const manifest = WITH_CALLERS.replace(
    `identity: { key: "\${PIPELINE_KEY}" }`,
    `identity: { oidc: { issuer: "${github.url}", audience: countersign, claims: { repository: acme/api } } }`,
  );
  const door = await startCalling({ manifest });
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'plan 1.bin'), 'the plan');
  writeFileSync(join(cwd, 'step.sh'), action.runs.steps[0].run);
  // Stands in for the package from npm.
  const npx = `#!/bin/sh\nshift 2\nexec "${process.execPath}" --import "${import.meta.resolve('tsx')}" "${CLI}" "$@"\n`;
  writeFileSync(join(cwd, 'npx'), npx, { mode: 0o755 });
  const inputs: Record<string, string> = {
    url: `http://127.0.0.1:${door.bot().port}`,
    policy: 'release',
    command: 'echo "$HOME $(wc -c < "plan 1.bin")" >> ran',
    files: 'plan 1.bin\n',
    title: '--json',
    why: 'It\'s "due"; $(touch hacked)',
  };
  const env = Object.fromEntries(
    Object.entries(action.runs.steps[0].env).map(([name, value]) => {
      const input = value.slice('${{ inputs.'.length, -' }}'.length);
      return [name, inputs[input] ?? action.inputs[input]?.default ?? ''];
    }),
  );
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', 'step.sh'], {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...{
        PATH: `${cwd}:${process.env.PATH}`,
        HOME: '/nowhere',
        GITHUB_RUN_ID: '77',
        GITHUB_RUN_ATTEMPT: '2',
      },
      ACTIONS_ID_TOKEN_REQUEST_URL: `${github.url}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'job-token',
      ...env,
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const card = JSON.stringify((await door.place.shows(/Approval needed/)).blocks);
  expect(card).toContain('run 77 attempt 2');
  expect(card).toContain('plan 1.bin');
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await ended).toBe(0);
  expect(linesOf(join(cwd, 'ran'))).toEqual(['/nowhere 8']);
  expect(linesOf(join(cwd, 'hacked'))).toEqual([]);
  // One for each change and each reading, never the same twice.
  expect(new Set(github.issued)).toEqual(new Set(['Bearer job-token countersign']));
  await door.place.shows(/release-pipeline ran this itself/);
});
