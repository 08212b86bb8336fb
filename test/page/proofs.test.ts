import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { expect, onTestFinished, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/agent/json.ts';
import { type Checkpoint, checkpointText, hashOf, signCheckpoint } from '../../src/audit/checkpoint.ts';
import { createKeyPair, readSigningKey } from '../../src/audit/signing-key.ts';
import type { LogRow } from '../../src/page/protocol.ts';
import { verifyLog } from '../../src/page/web/src/verify-log.ts';
import {
  type ApprovalTerms,
  challengeOf,
  PROOF_DOMAIN,
  proofProblem,
  readProof,
} from '../../src/policy/proof.ts';
import { linkOf, sealOf } from '../../src/store/record/chain-check.ts';
import { run } from '../commands/support.ts';
import { CAST } from '../stories/support.ts';
import { approve, enrol, linkFor, REFUND, startSignedStory } from './signing.ts';
import { SoftwareKey } from './software-key.ts';

const { alice, bruno } = CAST;

type Rows = readonly LogRow[];
type Change = (rows: Rows) => Rows;

const replaced = (
  value: JsonValue,
  path: readonly string[],
  next: (old: JsonValue) => JsonValue,
): JsonValue => {
  const [name, ...rest] = path;
  if (name === undefined) return next(value);
  const object: JsonObject = isJsonObject(value) ? value : {};
  return { ...object, [name]: replaced(object[name] ?? null, rest, next) };
};

/** Changes a part of the body of the n-th row of an event. */
const part =
  (event: string, n: number, path: string, next: JsonValue | ((old: JsonValue) => JsonValue)): Change =>
  (rows) => {
    const at = rows.filter((row) => row.event === event)[n]?.seq;
    const change = typeof next === 'function' ? next : () => next;
    return rows.map((row) =>
      row.seq === at
        ? { ...row, body: JSON.stringify(replaced(JSON.parse(row.body), path.split('.'), change)) }
        : row,
    );
  };
const without =
  (event: string, n: number): Change =>
  (rows) => {
    const at = rows.filter((row) => row.event === event)[n]?.seq;
    return rows.filter(({ seq }) => seq !== at);
  };
const flip = (old: JsonValue): string => {
  const text = String(old);
  const middle = Math.floor(text.length / 2);
  return `${text.slice(0, middle)}${text[middle] === 'A' ? 'B' : 'A'}${text.slice(middle + 1)}`;
};
const voted =
  (n: number, change: (row: LogRow) => Partial<LogRow>): Change =>
  (rows) => {
    const at = rows.filter(({ event }) => event === 'voted')[n]?.seq;
    return rows.map((row) => (row.seq === at ? { ...row, ...change(row) } : row));
  };
const bodyOf = (rows: Rows, event: string, n: number): JsonObject =>
  JSON.parse(rows.filter((row) => row.event === event)[n]?.body ?? '{}') as JsonObject;
/** Takes a part of one row's body from another row. */
const swapped =
  (event: string, path: string, from: number, to: number): Change =>
  (rows) => {
    const value = path
      .split('.')
      .reduce<JsonValue>(
        (at, name) => (isJsonObject(at) ? (at[name] ?? null) : null),
        bodyOf(rows, event, from),
      );
    return part(event, to, path, value)(rows);
  };
const moved =
  (event: string, n: number, by: number): Change =>
  (rows) => {
    const row = rows.filter((each) => each.event === event)[n];
    if (row === undefined) return [];
    const others = rows.filter((each) => each !== row);
    const at = rows.indexOf(row) + by;
    return [...others.slice(0, at), row, ...others.slice(at)];
  };

/** The rows: two keys, a refund that Ann signed, a deletion that both signed, a refund that Ben signed. */
const CHANGES: Readonly<Record<string, Change>> = {
  ...Object.fromEntries(
    [0, 1, 2, 3].flatMap((n): [string, Change][] => [
      [`another signature in vote ${n}`, part('voted', n, 'proof.signature', flip)],
      [`other authenticator data in vote ${n}`, part('voted', n, 'proof.authenticatorData', flip)],
      [`other client data in vote ${n}`, part('voted', n, 'proof.clientDataJSON', flip)],
      [`another digest in vote ${n}`, part('voted', n, 'proof.terms.digest', 'f'.repeat(64))],
      [`another key in vote ${n}`, part('voted', n, 'proof.key.jwk.x', flip)],
      [`no proof in vote ${n}`, part('voted', n, 'proof', null)],
    ]),
  ),
  'another digest of what was asked': part('asked', 0, 'digest', 'f'.repeat(64)),
  'another digest of what was asked, and in the vote': (rows) =>
    part('voted', 0, 'proof.terms.digest', 'f'.repeat(64))(part('asked', 0, 'digest', 'f'.repeat(64))(rows)),
  'another scope': part('voted', 0, 'proof.terms.scope', { grant: { uses: 9 } }),
  'a grant that nobody signed': part('voted', 0, 'grants', true),
  'another person in the terms': part('voted', 0, 'proof.terms.voter', bruno),
  'another person in the row': voted(0, ({ detail }) => ({ detail: detail.replace(alice, bruno) })),
  'another person everywhere': voted(0, ({ detail, body }) => ({
    detail: detail.replace(alice, bruno),
    body: body.replaceAll(alice, bruno),
  })),
  'two voters who changed places': (rows) =>
    voted(1, ({ detail }) => ({ detail: detail.replace(alice, bruno) }))(
      voted(2, ({ detail }) => ({ detail: detail.replace(bruno, alice) }))(rows),
    ),
  'in the place of somebody': voted(0, ({ detail }) => ({ detail: `${detail} for ${bruno}` })),
  'another request': part('voted', 0, 'proof.terms.request', 'C1:1.1~x'),
  'the proof of another vote': swapped('voted', 'proof', 0, 3),
  'a proof that counts twice': (rows) => {
    const twice = rows.filter(({ event }) => event === 'voted')[0];
    return twice === undefined ? [] : [...rows, twice];
  },
  'the signature of another vote': swapped('voted', 'proof.signature', 0, 3),
  'a later end of its time': part('voted', 0, 'proof.terms.expiry', 9_999_999_999_999),
  'a time after its end': voted(0, ({ at }) => ({ at: at + 3_600_000 })),
  'another key at the enrolment': part('passkey-added', 0, 'key.jwk.x', flip),
  'the keys of two people exchanged': (rows) =>
    swapped('passkey-confirmed', 'key', 1, 0)(swapped('passkey-added', 'key', 1, 0)(rows)),
  'no enrolment': (rows) => without('passkey-confirmed', 0)(without('passkey-added', 0)(rows)),
  'no confirmation': without('passkey-confirmed', 0),
  'a key that was never confirmed': part('passkey-confirmed', 0, 'countsFrom', null),
  'a key that counts later': part('passkey-confirmed', 0, 'countsFrom', 9_999_999_999_999),
  'a key that was removed before': (rows) =>
    rows.map((row, index) =>
      row.event === 'passkey-confirmed' && rows.findIndex(({ event }) => event === row.event) === index
        ? { ...row, event: 'passkey-removed' }
        : row,
    ),
  'a confirmation after the vote': moved('passkey-confirmed', 1, 20),
  'a request that was asked after its vote': moved('asked', 0, 2),
  'votes of one key in another order': (rows) => {
    const votes = rows.filter(({ event, detail }) => event === 'voted' && detail.includes(bruno));
    const [one, two] = votes;
    return one === undefined || two === undefined
      ? []
      : rows.map((row) => (row === one ? two : row === two ? one : row));
  },
  'no question': without('asked', 0),
};

/** Computes the chain anew. */
function chained(rows: Rows): LogRow[] {
  let before = '';
  return rows.map((row, index) => {
    const numbered = { ...row, seq: index + 1 };
    before = linkOf(numbered, before);
    return { ...numbered, hash: before };
  });
}

test(`${Object.keys(CHANGES).length} changed exports, signed anew with the bot's own key: "audit verify" and the browser find each`, async () => {
  const pair = createKeyPair();
  const own = await readSigningKey({ text: pair.privatePem });
  const story = await startSignedStory({
    auditKey: pair.privatePem,
    replies: [
      REFUND,
      { text: 'First.' },
      { calls: [{ name: 'delete_customer', arguments: { customer: 'Hooper Ltd' } }] },
      { text: 'Second.' },
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1002', amount: 11_000, reason: '' } }] },
      { text: 'Third.' },
    ],
  });
  const ann = await enrol(story, alice);
  const ben = await enrol(story, bruno, new SoftwareKey(story.url, { counter: 1 }));
  for (const [words, signers, done] of [
    ['refund it', [ann], /First\./],
    ['delete it', [ann, ben], /Second\./],
    ['refund another', [ben], /Third\./],
  ] as const) {
    const thread = story.ask(words);
    for (const signer of signers) {
      const nonce = await linkFor(story, signer.who, () =>
        thread.click(signer.who, /Approval needed/, 'approve'),
      );
      expect(await approve(story, signer, nonce)).toMatchObject({ status: 200 });
    }
    await thread.shows(done);
  }
  const genuine: LogRow[] = [];
  for await (const row of story.bot.context.store.exportAudit()) genuine.push(row);
  const folder = mkdtempSync(join(tmpdir(), 'proofs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'keys.pem'), pair.publicPem);

  const signedBy = (rows: Rows): Checkpoint[] => {
    const last = rows.at(-1);
    const sha256 = rows.reduce((seal, row) => sealOf(row, seal), '');
    const { seq, hash, at } = last ?? { seq: 0, hash: '', at: 0 };
    return [signCheckpoint({ n: 1, at, seq, hash, sha256, previous: '' }, own)];
  };
  const byCommand = async (rows: Rows) => {
    const lines = [
      ...rows.map((row) => ({ type: 'row', time: '', ...row })),
      ...signedBy(rows).map((point) => ({ type: 'checkpoint', ...point })),
    ];
    writeFileSync(join(folder, 'export.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { code, out } = await run([
      ...['audit', 'verify', '--json', '--file', join(folder, 'export.jsonl')],
      ...['--key', join(folder, 'keys.pem')],
    ]);
    const { problems, proven } = JSON.parse(out) as { problems: object[]; proven: number };
    return { code, problems, proven };
  };
  const inBrowser = (rows: Rows) => {
    const { seq = 0, hash = '' } = rows.at(-1) ?? {};
    return verifyLog({
      first: {
        ...{ base: { seq: 0, hash: '' }, head: { seq, hash }, rows },
        checkpoints: signedBy(rows).map((point) => ({
          n: 1,
          hash: hashOf(point),
          text: checkpointText(point),
        })),
      },
      rows: (async function* () {
        yield* rows;
      })(),
      publicKeys: pair.publicPem,
      now: rows.at(-1)?.at ?? 0,
    });
  };

  expect(await byCommand(genuine)).toEqual({ code: 0, problems: [], proven: 4 });
  expect(await inBrowser(genuine)).toMatchObject({ break: undefined, proven: 4, signatures: 'checked' });
  const missed: [string, boolean, boolean][] = [];
  for (const [name, change] of Object.entries(CHANGES)) {
    const forged = chained(change(genuine));
    const [known, found] = [
      (await byCommand(forged)).code === 1,
      (await inBrowser(forged)).break !== undefined,
    ];
    if (!known || !found) missed.push([name, known, found]);
  }
  expect(missed).toEqual([]);
});

test('the library and the own check agree about assertions', async () => {
  const origin = 'https://bot.example';
  const key = new SoftwareKey(origin, { counter: 3 });
  const jwk = key.publicJwk;
  const terms: ApprovalTerms = {
    ...{ domain: PROOF_DOMAIN, workspace: 'T', request: 'r', digest: 'd', decision: 'approve' as const },
    ...{ scope: 'once', voter: 'U', onBehalfOf: null, nonce: 'n', expiry: 1 },
  };
  const challenge = await challengeOf(terms);
  for (const lies of [
    {},
    { origin: 'https://evil.example' },
    { rpId: 'evil.example' },
    { flags: 1 },
    { foreignKey: true },
    { type: 'webauthn.create' },
  ]) {
    const { credential, ...response } = key.sign(challenge, lies);
    const proof = readProof({
      terms: { ...terms },
      key: { credential, jwk, origin, rpId: 'bot.example' },
      ...response,
    });
    const ours = proof === undefined ? 'unreadable' : await proofProblem(proof);
    const theirs = await verifyAuthenticationResponse({
      response: {
        ...{ id: credential, rawId: credential, type: 'public-key', clientExtensionResults: {}, response },
      },
      ...{ expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: 'bot.example' },
      credential: { id: credential, publicKey: key.cosePublicKey, counter: 0 },
    }).then(
      ({ verified }) => verified,
      () => false,
    );
    expect([lies, ours === undefined]).toEqual([lies, theirs]);
  }
});
