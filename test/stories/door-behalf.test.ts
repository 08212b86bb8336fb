import { randomUUID } from 'node:crypto';
import { generateKeyPair } from 'jose';
import { expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { type Calling, KEYS, startCalling, startIssuer, WITH_CALLERS } from './calling.ts';
import { CAST, SHIPPED_APP } from './support.ts';

const slack = { app: { scopes: [...(SHIPPED_APP.scopes ?? []), 'users:read.email'] } };
const Ask = { policy: 'release', title: 'Go', command: 'go' };

/** Starts a bot whose first caller may ask for people with tokens of a company's issuer. */
async function startForPeople() {
  const issuer = await startIssuer();
  const manifest = WITH_CALLERS.replace(
    '    links: [ci.example.com]',
    `    links: [ci.example.com]\n    on_behalf_of: { issuer: "${issuer.url}", audience: people }`,
  );
  const door = await startCalling({ manifest, slack });
  const emailOf = (who: string) => {
    const { users, team } = door.workspace.state;
    return `${users.get(who)?.name}@${team.domain}.example`;
  };
  const token = (who: string, options: Parameters<typeof issuer.token>[1] = {}, claims: object = {}) =>
    issuer.token(
      { email: emailOf(who), email_verified: true, ...claims },
      { audience: 'people', ...options },
    );
  return { door, issuer, token };
}

const refundFor = (door: Calling, amount: number, token: string, key = KEYS.pipeline) =>
  door.refund(amount, { key, more: { on_behalf_of: token } });

async function rowsOf(door: Calling, wanted: string) {
  const rows: string[] = [];
  const store = openRedisStore({ client: door.redis, prefix: door.prefix });
  for await (const { event, subject, detail, body } of store.exportAudit())
    if (event === wanted) rows.push([subject, detail, body].join(' '));
  return rows;
}

test('a person for whom a caller asks counts as requester: on the card, in the log, and they cannot approve', async () => {
  const { door, token } = await startForPeople();
  const asked = await refundFor(door, 12_000, await token(CAST.alice));
  expect(asked.code).toBe(202);
  const card = JSON.stringify((await door.place.shows(/Approval needed/)).blocks);
  expect(card).toContain(`asked by *release-pipeline* for <@${CAST.alice}>, <@${CAST.requester}>`);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await door.noticeFor(CAST.alice, /someone else has to approve it/);
  expect((await door.send('GET', `/v1/runs/${asked.body.id}`)).body.status).toBe('waiting');
  await door.place.click(CAST.bruno, /Approval needed/, 'approve');
  expect((await door.end(asked.body.id)).body.status).toBe('succeeded');
  expect(await rowsOf(door, 'asked')).toEqual([expect.stringContaining(CAST.alice)]);
  expect(await rowsOf(door, 'on-behalf-of')).toEqual([
    expect.stringContaining(`release-pipeline ${CAST.alice}`),
  ]);
});

test('an ask for a person waits for somebody else as well, and a person who leaves ends it', async () => {
  const { door, token } = await startForPeople();
  const body = { ...Ask, on_behalf_of: await token(CAST.alice) };
  const asked = await door.send('POST', '/v1/asks', { body });
  expect(asked.code).toBe(202);
  await door.place.click(CAST.bruno, /Approval needed/, 'approve');
  await expect
    .poll(async () => (await door.send('GET', `/v1/asks/${asked.body.id}`)).body.status)
    .toBe('approved');
  const alice = door.workspace.state.users.get(CAST.alice);
  if (alice !== undefined) alice.deleted = true;
  expect(await door.send('POST', `/v1/asks/${asked.body.id}/start`)).toMatchObject({ code: 409 });
});

test('a token of another issuer, for another audience, expired, of nobody, of a guest or of one who has left is refused, and so is a second use', async () => {
  const { door, issuer, token } = await startForPeople();
  const other = await startIssuer();
  const stranger = await generateKeyPair('ES256');
  const gone = door.workspace.state.users.get(CAST.bruno);
  if (gone !== undefined) gone.deleted = true;
  const wrong = {
    'of another issuer': await other.token(
      { email: 'a@b.example', email_verified: true },
      { audience: 'people' },
    ),
    'of another issuer in the name of ours': await token(CAST.alice, { key: stranger.privateKey }),
    'for another audience': await token(CAST.alice, { audience: 'countersign' }),
    expired: await token(CAST.alice, { expires: '-5m' }),
    'with an email that nobody has checked': await token(CAST.alice, {}, { email_verified: false }),
    'of nobody here': await token(CAST.alice, {}, { email: 'nobody@elsewhere.example' }),
    'of nobody here, with claims of Slack': await issuer.token(
      { 'https://slack.com/user_id': CAST.alice, 'https://slack.com/team_id': 'T0OTHER001' },
      { audience: 'people' },
    ),
    'of a guest': await token(CAST.guest),
    'of somebody deactivated': await token(CAST.bruno),
    'that is none': 'eyJhbGciOiJub25lIn0.e30.',
  };
  for (const [name, bad] of Object.entries(wrong))
    expect(await refundFor(door, 12_000, bad), name).toMatchObject({
      code: 403,
      body: { code: 'person-unproven' },
    });
  const jti = randomUUID();
  const good = await token(CAST.alice, { jti });
  expect((await refundFor(door, 12_000, good)).code).toBe(202);
  expect(await refundFor(door, 13_000, good)).toMatchObject({ code: 401, body: { code: 'replayed' } });
  const again = await token(CAST.alice, { jti, expires: '4m' });
  expect(await refundFor(door, 13_000, again)).toMatchObject({ code: 401, body: { code: 'replayed' } });
  // The other caller may ask for nobody, and a name in the body is no proof.
  expect(await refundFor(door, 12_000, await token(CAST.alice), KEYS.other)).toMatchObject({ code: 403 });
  expect(await refundFor(door, 12_000, CAST.alice)).toMatchObject({ code: 403 });
  const refused = await rowsOf(door, 'caller-refused');
  expect(refused.join(' ')).toContain('person-unproven');
  expect(refused.join(' ')).not.toContain('eyJ');
});
