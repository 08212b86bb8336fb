import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { CAST } from '../../../playground/slack/default-cast.ts';
import { startLocalSlack } from '../../../playground/slack/start-local-slack.ts';

const CLIENT = { id: '1.2', secret: 'the secret', redirectUri: 'http://localhost:4401/page/signed-in' };
const VERIFIER = 'v'.repeat(43);
const ASKED = {
  ...{ client_id: CLIENT.id, redirect_uri: CLIENT.redirectUri, response_type: 'code' },
  ...{ state: 'the state', nonce: 'the nonce', code_challenge_method: 'S256' },
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
};

async function start() {
  const slack = await startLocalSlack({ signIn: CLIENT });
  onTestFinished(() => slack.stop());
  const { origin } = new URL(slack.apiUrl);
  const authorize = (changes: object) =>
    fetch(`${origin}/openid/connect/authorize?${new URLSearchParams({ ...ASKED, ...changes })}`, {
      redirect: 'manual',
    });
  const exchange = async (code: string, changes: object = {}) => {
    const form = {
      ...{ grant_type: 'authorization_code', code, code_verifier: VERIFIER },
      ...{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uri: CLIENT.redirectUri },
    };
    const body = new URLSearchParams({ ...form, ...changes });
    const answer = await fetch(`${origin}/api/openid.connect.token`, { method: 'POST', body });
    return { status: answer.status, body: (await answer.json()) as { id_token?: string } };
  };
  const codeFor = async (who: string) => {
    const back = new URL((await authorize({ as: who })).headers.get('location') ?? '');
    expect(back.searchParams.get('state')).toBe('the state');
    return back.searchParams.get('code') ?? '';
  };
  return { authorize, exchange, codeFor, origin };
}

test('signing in asks who one is, and the token names that person, once', async () => {
  const { authorize, exchange, codeFor, origin } = await start();
  const page = await (await authorize({})).text();
  expect(page).toContain('Sign in as Alice Moreau');
  const code = await codeFor(CAST.alice);
  const { body } = await exchange(code);
  expect(decodeJwt(body.id_token ?? '')).toMatchObject({
    ...{ iss: origin, aud: CLIENT.id, nonce: 'the nonce', sub: CAST.alice },
    'https://slack.com/user_id': CAST.alice,
  });
  expect(await exchange(code)).toMatchObject({ status: 400 });
});

test('another client, another address, another browser and nobody are refused', async () => {
  const { authorize, exchange, codeFor } = await start();
  for (const changes of [{ client_id: 'other' }, { redirect_uri: 'http://evil.example/' }, { nonce: '' }])
    expect((await authorize({ as: CAST.alice, ...changes })).status).toBe(400);
  expect((await authorize({ as: 'U0NOBODY00' })).status).toBe(200);
  for (const changes of [{ client_secret: 'wrong' }, { code_verifier: 'w'.repeat(43) }, { code: 'none' }])
    expect(await exchange(await codeFor(CAST.alice), changes)).toMatchObject({ status: 400 });
});
