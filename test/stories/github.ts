import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { WITH_CALLERS } from './calling.ts';

const Action = z.object({
  inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string().optional() }).loose()),
  runs: z.object({
    using: z.literal('composite'),
    steps: z.tuple([
      z.strictObject({ shell: z.literal('bash'), env: z.record(z.string(), z.string()), run: z.string() }),
    ]),
  }),
});
/** The action of this project. */
export const action = Action.parse(parse(readFileSync(new URL('../../action.yml', import.meta.url), 'utf8')));
const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** Stands in for GitHub: its issuer of tokens, and the address where a job gets one. */
export async function startGithub() {
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

/** Returns the manifest in which the pipeline is a job of a repository there. */
export function trustingGithub({ url }: { readonly url: string }): string {
  return WITH_CALLERS.replace(
    `identity: { key: "\${PIPELINE_KEY}" }`,
    `identity: { oidc: { issuer: "${url}", audience: countersign, claims: { repository: acme/api } } }`,
  );
}

/**
 * Runs the action in a folder as a runner does. The clone that it is in has not been installed: the `npm` of the PATH does, as that of
 * a runner would, and notes its arguments in the file `npm-ran`.
 */
export function runAction(
  github: { readonly url: string },
  {
    cwd,
    inputs,
    environment = {},
  }: { cwd: string; inputs: Readonly<Record<string, string>>; environment?: Record<string, string> },
): Promise<number | null> {
  const [{ env, run }] = action.runs.steps;
  const clone = join(cwd, 'countersign');
  mkdirSync(clone);
  writeFileSync(join(clone, 'package.json'), '{ "type": "module" }');
  const cli = `await import("${import.meta.resolve('tsx')}");\nawait import("${CLI}");\n`;
  writeFileSync(join(cwd, 'cli.js'), cli);
  const npm =
    '#!/bin/sh\necho "$*" >> npm-ran\nmkdir -p countersign/dist/bin\nmv cli.js countersign/dist/bin\n';
  const path = join(cwd, 'path');
  mkdirSync(path);
  writeFileSync(join(path, 'npm'), npm, { mode: 0o755 });
  writeFileSync(join(cwd, 'step.sh'), run);
  const given = Object.entries(env).map(([name, value]) => {
    const input = value.slice('${{ inputs.'.length, -' }}'.length);
    return [name, inputs[input] ?? action.inputs[input]?.default ?? ''] as const;
  });
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', 'step.sh'], {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...{ HOME: '/nowhere', GITHUB_ACTION_PATH: clone },
      ACTIONS_ID_TOKEN_REQUEST_URL: `${github.url}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'job-token',
      ...environment,
      PATH: `${path}:${environment.PATH ?? process.env.PATH}`,
      ...Object.fromEntries(given),
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}
