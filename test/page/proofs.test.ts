import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { expect, onTestFinished, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/agent/json.ts';
import { type Checkpoint, checkpointText, hashOf, signCheckpoint } from '../../src/audit/checkpoint.ts';
import { createKeyPair, readSigningKey } from '../../src/audit/signing-key.ts';
import { verifyExport } from '../../src/audit/verify.ts';
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
import { nonEmpty } from '../support/non-empty.ts';
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
  ...Object.fromEntries(
    [0, 1, 2].flatMap((n): [string, Change][] => [
      [
        `other arguments in question ${n}`,
        part('asked', n, 'arguments', { orderId: 'A-9', amount: 1, customer: 'Eve' }),
      ],
      [`another tool in question ${n}`, part('asked', n, 'tool', 'send_email')],
      [`another title in question ${n}`, part('asked', n, 'title', 'Send an e-mail')],
      [`other requesters in question ${n}`, part('asked', n, 'requesters', [CAST.bruno])],
      [`another first requester in question ${n}`, part('asked', n, 'requester', CAST.bruno)],
      [`other words on the card of question ${n}`, part('asked', n, 'shown.fields', [])],
      [`another rule in question ${n}`, part('asked', n, 'rule', 'none')],
      [`another policy in question ${n}`, part('asked', n, 'policy_name', 'none')],
      [`fewer approvals in question ${n}`, part('asked', n, 'policy.quorum', 0)],
      [`other approvers in question ${n}`, part('asked', n, 'policy.principals', [CAST.requester])],
      [`no passkey needed in question ${n}`, part('asked', n, 'policy.passkey', false)],
      [`another version of the digest in question ${n}`, part('asked', n, 'digest_version', 4)],
      [`a hidden title in question ${n}`, part('asked', n, 'hidden', { '/title': 'f'.repeat(64) })],
    ]),
  ),
  'words that are called redacted': (rows) =>
    part('asked', 0, 'hidden', { '/arguments/orderId': 'f'.repeat(64) })(
      part('asked', 0, 'arguments.orderId', '[redacted]')(rows),
    ),
  'a start of something else': part('started', 0, 'digest', 'f'.repeat(64)),
  'one approval of two': without('voted', 2),
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

/** A log of four approvals that passkeys signed, and both checks of a copy of it that is signed anew with the bot's own key. */
async function openSignedLog() {
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
  const linesOf = (rows: Rows) =>
    [
      ...rows.map((row) => ({ type: 'row', time: '', ...row })),
      ...signedBy(rows).map((point) => ({ type: 'checkpoint', ...point })),
    ].map((line) => JSON.stringify(line));
  const byCommand = async (rows: Rows) => {
    writeFileSync(
      join(folder, 'export.jsonl'),
      linesOf(rows)
        .map((line) => `${line}\n`)
        .join(''),
    );
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

  /** Checks as the command does, without a file. */
  const byFunction = (rows: Rows) =>
    verifyExport(async function* () {
      yield* linesOf(rows);
    }, own.publicKeys);
  return { genuine, byCommand, byFunction, inBrowser };
}

test(`${Object.keys(CHANGES).length} changed exports, signed anew with the bot's own key: "audit verify" and the browser find each`, async () => {
  const { genuine, byCommand, inBrowser } = await openSignedLog();
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

/** Lists the places of all values in a body. */
function placesIn(value: JsonValue, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, entry]) => placesIn(entry, [...path, name]));
}

const changed = (old: JsonValue): JsonValue => {
  if (typeof old === 'number') return old + 1;
  if (typeof old === 'boolean') return !old;
  return typeof old === 'string' && old !== '' ? flip(old) : 'x';
};

/** Replaces a value in a body, in lists too. */
function withValue(value: JsonValue, [name, ...rest]: readonly string[]): JsonValue {
  if (name === undefined) return changed(value);
  if (Array.isArray(value))
    return value.map((item: JsonValue, index) => (String(index) === name ? withValue(item, rest) : item));
  return isJsonObject(value) ? { ...value, [name]: withValue(value[name] ?? null, rest) } : value;
}

/** Every change of one field of one row, and of one value of its body, by the name of the field. */
function* singleChanges(rows: Rows): Generator<readonly [field: string, rows: LogRow[]]> {
  for (const [at, row] of rows.entries()) {
    const put = (changes: Partial<LogRow>) =>
      chained(rows.map((each, index) => (index === at ? { ...each, ...changes } : each)));
    yield [`${row.event}: time`, put({ at: row.at + 1 })];
    yield [`${row.event}: event`, put({ event: `${row.event}x` })];
    yield [`${row.event}: subject`, put({ subject: flip(row.subject) })];
    yield [`${row.event}: detail`, put({ detail: flip(row.detail) })];
    yield [`${row.event}: the whole row`, chained(rows.filter((_, index) => index !== at))];
    if (row.body === '') continue;
    const body: JsonValue = JSON.parse(row.body);
    for (const path of placesIn(body)) {
      const name = path.map((part) => (/^\d+$/.test(part) ? '[]' : part)).join('.');
      yield [`${row.event}: ${name}`, put({ body: JSON.stringify(withValue(body, path)) })];
    }
  }
}

/** The changes that whoever holds the bot's key can make and nobody finds, in the words of docs/evidence/proof.md. */
const UNFOUND: readonly (readonly [RegExp, string])[] = [
  [/^[\w-]+: time$/, 'the time of a row, within the time of the link that was signed'],
  [
    /^(voted|passkey-confirmed|started): evidence\./,
    'the evidence about a person: how Slack described them then',
  ],
  [
    /^passkey-(added|confirmed): (event|detail|the whole row|by|countsFrom|evidence\..+|key\.credential|name)$/,
    'who confirmed a passkey, its name, and since when it counts',
  ],
  [/^voted: reason$/, 'the reason beside an approval'],
  [/^approved: /, 'the row `approved`, which the votes before it repeat'],
  [/^started: (detail|stillEligible\.\[\])$/, 'the number of an attempt, and the people counted at a start'],
  [
    /^(succeeded|failed): (event|detail|the whole row|state|summary\..+|subject)$/,
    'how an action ended, and its result',
  ],
];

test('every field of every row is changed, one at a time, and signed anew with the key of the bot: what is found by nobody is listed', async () => {
  const { genuine, byFunction, inBrowser } = await openSignedLog();
  const unfound = new Set<string>();
  const found = new Set<string>();
  const disagreed: string[] = [];
  for (const [field, rows] of singleChanges(genuine)) {
    const [known, seen] = [
      (await byFunction(rows)).problems.length > 0,
      (await inBrowser(rows)).break !== undefined,
    ];
    if (known !== seen) disagreed.push(field);
    (known ? found : unfound).add(field);
  }
  expect(nonEmpty(found).length).toBeGreaterThan(60);
  expect(disagreed).toEqual([]);
  const reasonOf = (field: string) => UNFOUND.find(([pattern]) => pattern.test(field));
  expect([...unfound].filter((field) => reasonOf(field) === undefined)).toEqual([]);
  // What is listed is found by nobody indeed.
  expect(UNFOUND.filter(([pattern]) => ![...unfound].some((field) => pattern.test(field)))).toEqual([]);
  const page = readFileSync(new URL('../../docs/evidence/proof.md', import.meta.url), 'utf8');
  for (const [, words] of nonEmpty(UNFOUND)) expect(page).toContain(`| ${words} |`);
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
