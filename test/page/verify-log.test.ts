import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type Checkpoint,
  checkpointText,
  hashOf,
  parseCheckpoint,
  signCheckpoint,
} from '../../src/audit/checkpoint.ts';
import {
  createKeyPair,
  parsePublicKeys,
  readSigningKey,
  type SigningKey,
} from '../../src/audit/signing-key.ts';
import { verifyExport } from '../../src/audit/verify.ts';
import type { LogRow } from '../../src/page/protocol.ts';
import { verifyLog } from '../../src/page/web/src/verify-log.ts';
import { linkOf, sealOf } from '../../src/store/record/chain-check.ts';
import { allRows, approveRefund, openAuditWorld } from '../audit/support.ts';

/** A log with its checkpoints, as it is read and before anybody checks it. */
interface Log {
  readonly rows: readonly LogRow[];
  readonly checkpoints: readonly Checkpoint[];
}

type Change = (log: Log, keys: { readonly own: SigningKey; readonly other: SigningKey }) => Log;

/** Changes one row; what follows stays as it is. */
const row =
  (at: number, change: (row: LogRow) => Partial<LogRow>): Change =>
  ({ rows, checkpoints }) => ({
    rows: rows.map((each, index) => (index === at ? { ...each, ...change(each) } : each)),
    checkpoints,
  });

const point =
  (at: number, change: (point: Checkpoint) => Partial<Checkpoint>): Change =>
  ({ rows, checkpoints }) => ({
    rows,
    checkpoints: checkpoints.map((each, index) => (index === at ? { ...each, ...change(each) } : each)),
  });

const rowsAs =
  (change: (rows: readonly LogRow[]) => readonly LogRow[]): Change =>
  ({ rows, checkpoints }) => ({ rows: change(rows), checkpoints });

const pointsAs =
  (change: (points: readonly Checkpoint[]) => readonly Checkpoint[]): Change =>
  ({ rows, checkpoints }) => ({ rows, checkpoints: change(checkpoints) });

const eve = (each: LogRow) => ({
  detail: each.detail.replaceAll('U-ann', 'U-eve'),
  body: each.body.replaceAll('U-ann', 'U-eve'),
});

/** Computes a chain that fits changed rows. */
function chained(rows: readonly LogRow[]): LogRow[] {
  let before = '';
  return rows.map((each, index) => {
    const numbered = { ...each, seq: index + 1 };
    before = linkOf(numbered, before);
    return { ...numbered, hash: before };
  });
}

/** Signs checkpoints for a chain that was computed anew, with any key. */
function signed({ rows, checkpoints }: Log, key: SigningKey): Checkpoint[] {
  let [seal, previous] = ['', ''];
  const seals = rows.map((each) => {
    seal = sealOf(each, seal);
    return seal;
  });
  return checkpoints.map(({ n, at, seq }) => {
    const end = rows[seq - 1];
    const fields = { n, at, seq, hash: end?.hash ?? '', sha256: seals[seq - 1] ?? '', previous };
    const made = signCheckpoint(fields, key);
    previous = hashOf(made);
    return made;
  });
}

const swap = (rows: readonly LogRow[], one: number, other: number): LogRow[] =>
  rows.map((each, index) =>
    index === one ? (rows[other] ?? each) : index === other ? (rows[one] ?? each) : each,
  );

const WRONG = 'f'.repeat(40);

const CHANGES: Readonly<Record<string, Change>> = {
  'another approver': row(6, eve),
  'another body of the first row': row(0, () => ({ body: '{}' })),
  'another detail': row(6, () => ({ detail: 'approve U-eve 1 of 1' })),
  'another event': row(6, () => ({ event: 'rejected' })),
  'another subject': row(6, () => ({ subject: 'another~request' })),
  'another time': row(6, () => ({ at: 1_700_000_000_000 })),
  'another hash': row(6, () => ({ hash: WRONG })),
  'no body': row(0, () => ({ body: '' })),
  'a space more in a body': row(0, (each) => ({ body: `${each.body} ` })),
  'another number': row(6, () => ({ seq: 70 })),
  'a changed last row': rowsAs((rows) =>
    rows.map((each, index) => (index === rows.length - 1 ? { ...each, event: 'failed' } : each)),
  ),
  'a changed row with a hash that fits': rowsAs((rows) => {
    const forged = chained(rows.map((each, index) => (index === 6 ? { ...each, ...eve(each) } : each)));
    return rows.map((each, index) => (index === 6 ? (forged[6] ?? each) : each));
  }),
  'a missing row': rowsAs((rows) => rows.filter((_, index) => index !== 6)),
  'a missing first row': rowsAs((rows) => rows.slice(1)),
  'missing rows in several places': rowsAs((rows) => rows.filter((_, index) => ![2, 5, 9].includes(index))),
  'a missing end': rowsAs((rows) => rows.slice(0, 4)),
  'no rows': rowsAs(() => []),
  'two rows that changed places': rowsAs((rows) => swap(rows, 5, 6)),
  'two rows that changed places and numbers': rowsAs((rows) =>
    swap(rows, 5, 6).map((each, index) => ({ ...each, seq: index + 1 })),
  ),
  'a chain computed anew': rowsAs((rows) => chained(rows.map((each) => ({ ...each, ...eve(each) })))),
  'a chain computed anew without a row': rowsAs((rows) => chained(rows.filter((_, index) => index !== 6))),
  'a chain computed anew with a row more': rowsAs((rows) => chained([...rows.slice(0, 3), ...rows.slice(2)])),
  'a chain with checkpoints of another key': (log, { other }) => {
    const rows = chained(log.rows.map((each) => ({ ...each, ...eve(each) })));
    return { rows, checkpoints: signed({ ...log, rows }, other) };
  },
  'no checkpoint': pointsAs(() => []),
  'a missing first checkpoint': pointsAs((points) => points.slice(1)),
  'a missing checkpoint between': pointsAs((points) => points.filter((_, index) => index !== 1)),
  'two checkpoints that changed places': pointsAs((points) => [
    ...points.slice(0, 1),
    ...points.slice(1).toReversed(),
  ]),
  'another signature': point(1, ({ signature }) => ({
    signature: `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
  })),
  'an empty signature': point(1, () => ({ signature: '' })),
  'a signature that is no base64': point(1, () => ({ signature: '!' })),
  "another checkpoint's signature": pointsAs((points) =>
    points.map((each, index) => ({ ...each, signature: points[index === 1 ? 0 : index]?.signature ?? '' })),
  ),
  'another key id': point(1, () => ({ keyId: '0'.repeat(16) })),
  'a checkpoint of another key': (log, { other }) =>
    point(1, ({ n, at, seq, hash, sha256, previous }) =>
      signCheckpoint({ n, at, seq, hash, sha256, previous }, other),
    )(log, { own: other, other }),
  'another row in a checkpoint': point(1, ({ seq }) => ({ seq: seq - 1 })),
  'another hash in a checkpoint': point(1, () => ({ hash: WRONG })),
  'another chain in a checkpoint': point(1, () => ({ sha256: 'f'.repeat(64) })),
  'another predecessor in a checkpoint': point(1, () => ({ previous: 'f'.repeat(64) })),
  'another time in a checkpoint': point(1, ({ at }) => ({ at: at - 1 })),
  'another number of a checkpoint': point(1, ({ n }) => ({ n: n + 5 })),
  'a checkpoint of an older chain, signed by the own key': (log, { own }) => {
    const rows = chained(log.rows.map((each) => ({ ...each, ...eve(each) })));
    return { rows: log.rows, checkpoints: signed({ ...log, rows }, own) };
  },
  'an approver swapped with the requester': row(6, (each) => ({
    detail: `${each.detail.replace('U-ann', 'U-req')} `,
  })),
};

test(`the check in the browser and "audit verify" agree on ${Object.keys(CHANGES).length} changed logs: each is found`, async () => {
  const world = await openAuditWorld();
  for (let round = 0; round < 3; round += 1) {
    await approveRefund(world.store);
    await world.exportOnce({});
  }
  const checkpoints: Checkpoint[] = [];
  for await (const { text } of world.store.readCheckpoints()) {
    const checkpoint = parseCheckpoint(text);
    if (checkpoint !== undefined) checkpoints.push(checkpoint);
  }
  const genuine: Log = { rows: await allRows(world.store), checkpoints };
  expect(checkpoints).toHaveLength(3);
  const publicKeys = readFileSync(world.publicKeyFile, 'utf8');
  const own = await readSigningKey({ file: world.privateKeyFile });
  const other = await readSigningKey({ text: createKeyPair().privatePem });

  const inBrowser = async ({ rows, checkpoints: points }: Log) => {
    const last = rows.at(-1);
    const check = await verifyLog({
      first: {
        base: { seq: 0, hash: '' },
        head: { seq: last?.seq ?? 0, hash: last?.hash ?? '' },
        rows,
        checkpoints: points.map((each) => ({ n: each.n, hash: hashOf(each), text: checkpointText(each) })),
      },
      rows: (async function* () {
        yield* rows;
      })(),
      publicKeys,
      // Rows that nobody has signed for an hour are a break.
      now: Math.max(0, ...rows.map(({ at }) => at)) + 3_600_000,
    });
    return check;
  };
  const byCommand = async ({ rows, checkpoints: points }: Log) => {
    const lines = [
      ...rows.map((each) => ({ type: 'row', time: '', ...each })),
      ...points.map((each) => ({ type: 'checkpoint', ...each })),
    ].map((line) => JSON.stringify(line));
    return verifyExport(async function* () {
      yield* lines;
    }, parsePublicKeys(publicKeys));
  };

  const intact = await inBrowser(genuine);
  expect(intact).toMatchObject({ rows: 15, checkpoints: 3, signatures: 'checked', break: undefined });
  expect((await byCommand(genuine)).problems).toEqual([]);
  const missed: [string, boolean, boolean][] = [];
  for (const [name, change] of Object.entries(CHANGES)) {
    const changed = change(genuine, { own, other });
    const found = (await inBrowser(changed)).break !== undefined;
    const known = (await byCommand(changed)).problems.length > 0;
    if (!found || !known) missed.push([name, found, known]);
  }
  expect(missed).toEqual([]);
});

test('the first break is the row that was changed, and without a key only the chain is checked', async () => {
  const world = await openAuditWorld();
  await approveRefund(world.store);
  const rows = await allRows(world.store);
  const last = rows.at(-1);
  const first = { base: { seq: 0, hash: '' }, head: { seq: last?.seq ?? 0, hash: last?.hash ?? '' }, rows };
  const check = (changed: readonly LogRow[]) =>
    verifyLog({
      first,
      rows: (async function* () {
        yield* changed;
      })(),
      publicKeys: '',
    });
  expect(await check(rows)).toMatchObject({ signatures: 'no-key', break: undefined });
  const changed = rows.map((each, index) =>
    index === 2 || index === 3 ? { ...each, detail: 'changed' } : each,
  );
  expect((await check(changed)).break).toEqual({ at: { row: 3 }, message: 'Row 3 is not what was written.' });
});
