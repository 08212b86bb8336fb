import type { ChainableCommander } from 'ioredis';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Checkpoint,
  checkpointText,
  hashOf,
  isSignedBy,
  parseCheckpoint,
  signCheckpoint,
} from '../../src/audit/checkpoint.ts';
import { exportIn } from '../../src/audit/export-progress.ts';
import { readSignerState } from '../../src/audit/signer.ts';
import { createKeyPair, readSigningKey, type SigningKey } from '../../src/audit/signing-key.ts';
import type { AuditRow } from '../../src/store/port/audit.ts';
import { linkOf, sealOf, sha256 } from '../../src/store/record/chain-check.ts';
import { jsonLines, run, writeKey } from '../commands/support.ts';
import { type Entry, withField } from '../store/audit/support.ts';
import { type AuditWorld, allRows, approveRefund, eventually, linesOf, openAuditWorld } from './support.ts';

/** All that a forger reads in Redis, and the key that they have made. */
interface Scene {
  readonly keys: {
    readonly audit: string;
    readonly head: string;
    readonly checkpoints: string;
    readonly lease: string;
    readonly sink: string;
  };
  readonly rows: readonly Entry[];
  readonly genuine: readonly AuditRow[];
  readonly checkpoints: readonly Checkpoint[];
  readonly last: Checkpoint;
  readonly other: SigningKey;
}

/** Writes to Redis in one step, while the signer runs. */
type Forge = (redis: ChainableCommander, scene: Scene) => void;

/** A finding of each that looks; none where nothing is to be found: the running signer, `audit verify` on Redis, `audit verify --file`. */
interface Found {
  readonly signer?: string;
  readonly redis?: string;
  readonly file?: string;
}

const write = (redis: ChainableCommander, key: string, entries: readonly Entry[]): void => {
  redis.del(key);
  for (const { id, fields } of entries) redis.xadd(key, id, ...fields);
};

const fieldOf = ({ fields }: Entry, name: string): string => fields[fields.indexOf(name) + 1] ?? '';

/** Numbers rows anew and computes a chain that fits them. */
function chained(entries: readonly Entry[], from = 0): Entry[] {
  let before = '';
  return entries.map((entry, index) => {
    const seq = index + 1;
    const [at, event, subject] = [Number(fieldOf(entry, 't')), fieldOf(entry, 'e'), fieldOf(entry, 's')];
    const row = {
      v: Number(fieldOf(entry, 'v')),
      seq,
      at,
      event,
      subject,
      detail: fieldOf(entry, 'd'),
      body: fieldOf(entry, 'b'),
    };
    before = index < from ? fieldOf(entry, 'h') : linkOf(row, before);
    return { id: `${seq}-0`, fields: withField(entry.fields, 'h', before) };
  });
}

const eve = (entry: Entry): Entry => ({
  ...entry,
  fields: entry.fields.map((field) => field.replaceAll('U-ann', 'U-eve')),
});

/** Changes one row where it stands. */
const inPlace =
  (change: (entry: Entry) => Entry, at = 6): Forge =>
  (redis, { keys, rows }) =>
    write(
      redis,
      keys.audit,
      rows.map((entry, index) => (index === at ? change(entry) : entry)),
    );

const field = (name: string, value: string) =>
  inPlace((entry) => ({ ...entry, fields: withField(entry.fields, name, value) }));

/** Writes the whole log anew, with its head. */
const rewrite = (redis: ChainableCommander, { keys }: Scene, entries: readonly Entry[]): void => {
  write(redis, keys.audit, entries);
  const last = entries.at(-1);
  if (last === undefined) redis.del(keys.head);
  else redis.hset(keys.head, { seq: entries.length, hash: fieldOf(last, 'h') });
};

const forgeLog = (redis: ChainableCommander, scene: Scene): void =>
  rewrite(redis, scene, chained(scene.rows.map(eve)));

/** Takes the lease from the signer and gives it back. */
const stealLease = (redis: ChainableCommander, { keys }: Scene): void => {
  redis.set(keys.lease, 'eve\n').del(keys.lease);
};

const asEntry = (text: string, n: number, hash = sha256(text)): Entry => ({
  id: `${n}-0`,
  fields: ['h', hash, 'b', text],
});

const entriesOf = (checkpoints: readonly Checkpoint[]): Entry[] =>
  checkpoints.map((checkpoint) => asEntry(checkpointText(checkpoint), checkpoint.n));

const fieldsOf = ({ v: _v, keyId: _keyId, signature: _signature, ...fields }: Checkpoint) => fields;

/** Replaces the last checkpoint, or one before it. */
const replaceCheckpoint =
  (change: (checkpoint: Checkpoint, scene: Scene) => string, back = 1): Forge =>
  (redis, scene) =>
    write(
      redis,
      scene.keys.checkpoints,
      scene.checkpoints.map((checkpoint, index) =>
        index === scene.checkpoints.length - back
          ? asEntry(change(checkpoint, scene), checkpoint.n)
          : asEntry(checkpointText(checkpoint), checkpoint.n),
      ),
    );

const withoutCheckpoint =
  (back: number): Forge =>
  (redis, { keys, checkpoints }) =>
    redis.xdel(keys.checkpoints, `${checkpoints.length - back + 1}-0`);

const byOther = (checkpoint: Checkpoint, { other }: Scene): string =>
  checkpointText(signCheckpoint(fieldsOf(checkpoint), other));

/** The checkpoint after the last one, about a forged row. */
const following = ({ last }: Scene) => ({
  ...fieldsOf(last),
  n: last.n + 1,
  previous: hashOf(last),
  sha256: sha256('forged'),
});

/** Puts the log back as it was at the first checkpoint. */
const rollBack: Forge = (redis, scene) => {
  const [first] = scene.checkpoints;
  rewrite(redis, scene, scene.rows.slice(0, first?.seq ?? 0));
  write(redis, scene.keys.checkpoints, entriesOf(scene.checkpoints.slice(0, 1)));
};

/** Runs several forgeries in one step. */
const all =
  (...forgeries: readonly Forge[]): Forge =>
  (redis, scene) => {
    for (const forge of forgeries) forge(redis, scene);
  };

const deleteKeys =
  (...names: readonly (keyof Scene['keys'])[]): Forge =>
  (redis, { keys }) =>
    redis.del(...names.map((name) => keys[name]));

const FORGERIES: readonly (readonly [string, Forge, Found])[] = [
  ['another approver in a signed row', inPlace(eve), { redis: 'changed' }],
  ['another detail', field('d', 'approve U-eve 1 of 1'), { redis: 'changed' }],
  ['another event', field('e', 'rejected'), { redis: 'changed' }],
  ['another subject', field('s', 'another~request'), { redis: 'changed' }],
  ['another time', field('t', '1700000000000'), { redis: 'changed' }],
  ['another hash', field('h', '0'.repeat(40)), { redis: 'changed' }],
  [
    'a row without its body',
    inPlace(({ id, fields }) => ({ id, fields: [...fields.slice(0, 8), ...fields.slice(10)] })),
    { redis: 'changed' },
  ],
  ['a changed first row', inPlace(eve, 0), { redis: 'changed' }],
  [
    'a changed last row',
    inPlace((entry) => ({ ...entry, fields: withField(entry.fields, 'e', 'failed') }), 14),
    { redis: 'rewritten' },
  ],
  [
    'a changed row with a hash that fits it',
    (redis, scene) => {
      const forged = chained(scene.rows.map((entry, index) => (index === 6 ? eve(entry) : entry)));
      inPlace((entry) => forged[6] ?? entry)(redis, scene);
    },
    { redis: 'changed' },
  ],
  ['a removed row', (redis, { keys }) => redis.xdel(keys.audit, '7-0'), { redis: 'removed' }],
  ['a removed first row', (redis, { keys }) => redis.xdel(keys.audit, '1-0'), { redis: 'removed' }],
  [
    'removed rows in several places',
    (redis, { keys }) => redis.xdel(keys.audit, '2-0', '5-0', '6-0', '12-0'),
    { redis: 'removed' },
  ],
  ['a removed last row', (redis, { keys }) => redis.xdel(keys.audit, '15-0'), { redis: 'removed' }],
  [
    'a removed end, and a head that fits it',
    (redis, scene) => rewrite(redis, scene, scene.rows.slice(0, -1)),
    { signer: 'log-changed', redis: 'rewritten' },
  ],
  [
    'most rows removed, and a head that fits',
    (redis, scene) => rewrite(redis, scene, scene.rows.slice(0, 2)),
    { signer: 'log-changed', redis: 'cut-off' },
  ],
  [
    'two rows that changed places',
    (redis, { keys, rows }) =>
      write(
        redis,
        keys.audit,
        rows.map(({ id }, index) => ({
          id,
          fields: rows[index === 5 ? 6 : index === 6 ? 5 : index]?.fields ?? [],
        })),
      ),
    { redis: 'moved' },
  ],
  [
    'a row that moved to the end',
    (redis, { keys, rows }) =>
      write(redis, keys.audit, [
        ...rows.filter((_, index) => index !== 3),
        { id: '16-0', fields: rows[3]?.fields ?? [] },
      ]),
    { redis: 'removed', file: 'changed' },
  ],
  [
    'a row twice',
    (redis, { keys, rows }) =>
      write(
        redis,
        keys.audit,
        rows.flatMap((entry) => (entry.id === '7-0' ? [entry, { ...entry, id: '7-1' }] : [entry])),
      ),
    { redis: 'changed' },
  ],
  [
    'a row put between two',
    (redis, { keys, rows }) =>
      write(
        redis,
        keys.audit,
        rows.flatMap((entry) => (entry.id === '7-0' ? [entry, eve({ ...entry, id: '7-1' })] : [entry])),
      ),
    { redis: 'changed' },
  ],
  [
    'a chain computed anew without a row',
    (redis, scene) => rewrite(redis, scene, chained(scene.rows.filter((_, index) => index !== 6))),
    { signer: 'log-changed', redis: 'rewritten' },
  ],
  [
    'a chain computed anew with another approver',
    forgeLog,
    { signer: 'log-changed', redis: 'rewritten', file: 'changed' },
  ],
  [
    'a chain computed anew from the middle on',
    (redis, scene) =>
      rewrite(
        redis,
        scene,
        chained(
          scene.rows.map((entry, index) => (index > 7 ? eve(entry) : entry)),
          8,
        ),
      ),
    { signer: 'log-changed', redis: 'rewritten', file: 'changed' },
  ],
  [
    'a chain computed anew with more rows than before',
    (redis, scene) => rewrite(redis, scene, chained([...scene.rows.map(eve), ...scene.rows])),
    { signer: 'log-changed', redis: 'rewritten', file: 'changed' },
  ],
  [
    'a chain computed anew, and no checkpoint',
    all(forgeLog, deleteKeys('checkpoints')),
    { signer: 'older-copy', redis: 'rewritten', file: 'changed?' },
  ],
  [
    'a chain computed anew, no checkpoint, and the lease stolen for a moment',
    all(forgeLog, deleteKeys('checkpoints'), stealLease),
    { signer: 'older-copy', redis: 'rewritten', file: 'changed?' },
  ],
  ['a deleted log', deleteKeys('audit', 'head'), { signer: 'log-changed', redis: 'cut-off' }],
  [
    'a deleted log with its checkpoints',
    deleteKeys('audit', 'head', 'checkpoints'),
    { signer: 'older-copy', redis: 'cut-off' },
  ],
  [
    'everything deleted',
    deleteKeys('audit', 'head', 'checkpoints', 'lease', 'sink'),
    { signer: 'older-copy', redis: 'cut-off', file: 'changed?' },
  ],
  [
    'another hash in the head',
    (redis, { keys }) => redis.hset(keys.head, 'hash', '0'.repeat(40)),
    { signer: 'log-changed', redis: 'changed', file: 'changed' },
  ],
  [
    'a higher number in the head',
    (redis, { keys }) => redis.hset(keys.head, 'seq', 40),
    { signer: 'log-changed', redis: 'removed', file: 'removed' },
  ],
  [
    'a lower number in the head',
    (redis, { keys }) => redis.hset(keys.head, 'seq', 9),
    { signer: 'log-changed', redis: 'cut-off' },
  ],
  ['no head', deleteKeys('head'), { signer: 'log-changed', redis: 'cut-off' }],
  [
    'a changed row behind a beginning that moved',
    all(inPlace(eve), (redis, { keys, genuine }) =>
      redis.hset(keys.head, { base: 9, base_hash: genuine[8]?.hash ?? '' }),
    ),
    { redis: 'changed' },
  ],
  [
    'a beginning that moved, with a forged hash',
    (redis, { keys }) => {
      redis.xtrim(keys.audit, 'MINID', '10-0');
      redis.hset(keys.head, { base: 9, base_hash: '0'.repeat(40) });
    },
    { redis: 'changed' },
  ],
  ['no last checkpoint', withoutCheckpoint(1), { signer: 'checkpoint-missing', redis: 'missing' }],
  ['no checkpoint before the last', withoutCheckpoint(2), { redis: 'missing' }],
  ['no first checkpoint', (redis, { keys }) => redis.xdel(keys.checkpoints, '1-0'), { redis: 'missing' }],
  ['no checkpoint at all', deleteKeys('checkpoints'), { signer: 'checkpoint-missing', redis: 'missing' }],
  [
    'the last checkpoint by another key',
    replaceCheckpoint(byOther),
    { signer: 'unknown-key', redis: 'unknown-key' },
  ],
  ['an earlier checkpoint by another key', replaceCheckpoint(byOther, 2), { redis: 'unknown-key' }],
  [
    'a next checkpoint by another key',
    (redis, scene) =>
      redis.xadd(
        scene.keys.checkpoints,
        `${scene.last.n + 1}-0`,
        ...asEntry(checkpointText(signCheckpoint(following(scene), scene.other)), 0).fields,
      ),
    { signer: 'unknown-key', redis: 'unknown-key', file: 'unknown-key' },
  ],
  [
    'a next checkpoint with our key id and another signature',
    (redis, scene) => {
      const forged = { ...signCheckpoint(following(scene), scene.other), keyId: scene.last.keyId };
      redis.xadd(
        scene.keys.checkpoints,
        `${scene.last.n + 1}-0`,
        ...asEntry(checkpointText(forged), 0).fields,
      );
    },
    { signer: 'checkpoint-changed', redis: 'changed', file: 'changed' },
  ],
  [
    'a next checkpoint with the signature of the last one',
    (redis, scene) => {
      const { v, keyId, signature } = scene.last;
      const forged = { v, ...following(scene), keyId, signature };
      redis.xadd(
        scene.keys.checkpoints,
        `${scene.last.n + 1}-0`,
        ...asEntry(checkpointText(forged), 0).fields,
      );
    },
    { signer: 'checkpoint-changed', redis: 'changed', file: 'changed' },
  ],
  [
    'a chain computed anew under one checkpoint of another key',
    (redis, scene) => {
      const forged = chained(scene.rows.map(eve));
      rewrite(redis, scene, forged);
      const hash = fieldOf(forged.at(-1) ?? { id: '', fields: [] }, 'h');
      const first = signCheckpoint(
        { n: 1, at: Date.now(), seq: forged.length, hash, sha256: sha256(''), previous: '' },
        scene.other,
      );
      write(redis, scene.keys.checkpoints, entriesOf([first]));
      stealLease(redis, scene);
    },
    { signer: 'unknown-key', redis: 'unknown-key', file: 'changed' },
  ],
  [
    'a last checkpoint with another signature',
    replaceCheckpoint((last) => checkpointText({ ...last, signature: Buffer.alloc(64).toString('base64') })),
    { signer: 'checkpoint-changed', redis: 'changed' },
  ],
  [
    'a last checkpoint with another time',
    replaceCheckpoint((last) => checkpointText({ ...last, at: last.at - 1 })),
    { signer: 'checkpoint-changed', redis: 'changed' },
  ],
  [
    'a last checkpoint about an earlier row',
    replaceCheckpoint((last, { genuine }) =>
      checkpointText({ ...last, seq: 3, hash: genuine[2]?.hash ?? '' }),
    ),
    { signer: 'checkpoint-changed', redis: 'changed' },
  ],
  [
    'a last checkpoint that cannot be read',
    replaceCheckpoint(() => 'nonsense'),
    { signer: 'checkpoint-changed', redis: 'changed' },
  ],
  ['an earlier checkpoint that cannot be read', replaceCheckpoint(() => '{}', 2), { redis: 'changed' }],
  [
    'the first checkpoint once more as the last',
    replaceCheckpoint((last, { checkpoints }) => checkpointText(checkpoints[0] ?? last)),
    { signer: 'checkpoint-changed', redis: 'changed' },
  ],
  [
    'another hash beside the last checkpoint',
    (redis, { keys, last, checkpoints }) =>
      write(redis, keys.checkpoints, [
        ...entriesOf(checkpoints.slice(0, -1)),
        asEntry(checkpointText(last), last.n, sha256('')),
      ]),
    { signer: 'checkpoint-changed', redis: 'changed' },
  ],
  ['an older copy of the whole log', rollBack, { signer: 'older-copy', redis: 'cut-off' }],
  [
    'an older copy of the whole log, and the lease stolen for a moment',
    all(rollBack, stealLease),
    { signer: 'older-copy', redis: 'cut-off' },
  ],
  [
    'rows that never reach the export',
    (redis, { keys, last }) =>
      redis.set(keys.sink, `eve\n${JSON.stringify({ seq: 900, checkpoint: last.n })}`),
    { file: 'cut-off' },
  ],
  [
    'checkpoints that never reach the export',
    (redis, { keys }) => redis.set(keys.sink, `eve\n${JSON.stringify({ seq: 15, checkpoint: 900 })}`),
    { file: 'missing' },
  ],
];

/** Writes three refunds, each under a checkpoint, while the signer runs. */
async function signedWorld(unsignedAfterMs?: number) {
  const world = await openAuditWorld();
  const exporter = await world.keepExporting({ file: world.file }, unsignedAfterMs);
  for (let count = 1; count <= 3; count += 1) {
    await approveRefund(world.store);
    await eventually(async () =>
      expect((await readSignerState(world.stateFile))?.signed?.seq).toBe(count * 5),
    );
  }
  // The export has it all as well.
  await eventually(() =>
    expect(
      linesOf(world.file)
        .filter(({ n }) => n !== undefined)
        .at(-1),
    ).toMatchObject({ seq: 15 }),
  );
  return { world, exporter };
}

async function sceneOf({ redis, keys, store, folder }: AuditWorld): Promise<Scene> {
  const named = {
    audit: keys.shared('audit'),
    head: keys.shared('head'),
    checkpoints: keys.shared('checkpoints'),
    lease: keys.document('lock|export'),
    sink: keys.document(`export|${[...(await exportIn(store).readProgress()).keys()][0]}`),
  };
  const rows = (await redis.client.xrange(named.audit, '-', '+')).map(([id, fields]) => ({ id, fields }));
  const checkpoints: Checkpoint[] = [];
  for await (const { text } of store.readCheckpoints()) {
    const checkpoint = parseCheckpoint(text);
    if (checkpoint !== undefined) checkpoints.push(checkpoint);
  }
  const last = checkpoints.at(-1);
  if (last === undefined || (await redis.client.exists(named.sink)) === 0)
    throw new Error('Nothing was signed or exported');
  const other = await readSigningKey({ file: writeKey(folder, 'other.pem', createKeyPair().privatePem) });
  return { keys: named, rows, genuine: await allRows(store), checkpoints, last, other };
}

/** Collects every checkpoint with a signature of our key, wherever it is. */
async function everSigned(world: AuditWorld): Promise<Checkpoint[]> {
  const { publicKey } = await readSigningKey({ file: world.privateKeyFile });
  const state = await readSignerState(world.stateFile);
  const texts: string[] = [];
  for await (const { text } of world.store.readCheckpoints()) texts.push(text);
  for (const { type, ...line } of linesOf(world.file))
    if (type === 'checkpoint') texts.push(JSON.stringify(line));
  return [state?.signed, state?.pending, ...texts.map(parseCheckpoint)].flatMap((checkpoint) =>
    checkpoint !== undefined && isSignedBy(checkpoint, publicKey) ? [checkpoint] : [],
  );
}

/** The SHA-256 chain over the genuine rows and what the bot has written after the forgery. */
function sealsOf(genuine: readonly AuditRow[], later: readonly AuditRow[]): string[] {
  const seals = [''];
  for (const row of [...genuine, ...later]) seals.push(sealOf(row, seals.at(-1) ?? ''));
  return seals;
}

const Verified = z.object({ problems: z.array(z.object({ problem: z.string() })) });

/** Asks the signer and both checks, each with what the operator has outside Redis. */
async function lookEverywhere({ redis, file, publicKeyFile, stateFile, refusals }: AuditWorld) {
  const { signed } = (await readSignerState(stateFile)) ?? {};
  if (signed === undefined) throw new Error('The signer remembers nothing');
  const verify = ['audit', 'verify', '--json', '--key', publicKeyFile];
  const environment = { REDIS_URL: redis.url, AUDIT_STATE_FILE: stateFile };
  const codesOf = ({ out }: { readonly out: string }): string[] =>
    Verified.parse(jsonLines(out)[0]).problems.map(({ problem }) => problem);
  const since = ['--since-checkpoint', `${signed.n}:${hashOf(signed)}`];
  return {
    signer: refusals.slice(-1),
    redis: codesOf(await run([...verify, '--against', file], environment, redis.prefix)),
    file: codesOf(await run([...verify, '--file', file, ...since])),
  };
}

async function forgeIn(world: AuditWorld, forge: Forge): Promise<Scene> {
  const scene = await sceneOf(world);
  const multi = world.redis.client.multi();
  forge(multi, scene);
  for (const [error] of (await multi.exec()) ?? []) expect(error).toBeNull();
  return scene;
}

test('there are at least 40 forgeries, and somebody finds each', () => {
  expect(FORGERIES.length).toBeGreaterThanOrEqual(40);
  for (const [name, , found] of FORGERIES) expect(Object.keys(found), name).not.toEqual([]);
});

test.each(FORGERIES)(
  'somebody who can write to Redis is found, and nothing of theirs is signed: %s',
  async (_name, forge, found) => {
    const { world, exporter } = await signedWorld();
    const scene = await forgeIn(world, forge);
    // The bot goes on writing, where the forgery lets it.
    await world.store.note('after', 'configured', 'after', {}).catch(() => {});
    await exporter.stop();
    const seen = await lookEverywhere(world);
    for (const who of ['signer', 'redis', 'file'] as const)
      if (found[who] === undefined) expect([who, seen[who]]).toEqual([who, []]);
      // Nothing of a log that begins again goes into the export of before, once the exporter has seen that it does.
      else if (found[who] === 'changed?') expect(['', 'changed']).toContain(seen[who].join());
      else expect(seen[who]).toContain(found[who]);
    const later = (await allRows(world.store)).filter(
      ({ subject, seq }) => subject === 'after' && seq === 16,
    );
    const seals = sealsOf(scene.genuine, later);
    const signed = await everSigned(world);
    expect(signed.length).toBeGreaterThan(2);
    for (const { n, seq, sha256: seal } of signed) expect([n, seal]).toEqual([n, seals[seq]]);
  },
);

test('a stolen lease, or an export that begins again, changes nothing and hides nothing', async () => {
  const { world, exporter } = await signedWorld();
  await forgeIn(
    world,
    all(stealLease, (redis, { keys }) => redis.del(keys.sink)),
  );
  await world.store.note('after', 'configured', 'after', {});
  await eventually(async () => expect((await readSignerState(world.stateFile))?.signed?.seq).toBe(16));
  await exporter.stop();
  expect(await lookEverywhere(world)).toEqual({ signer: [], redis: [], file: [] });
});

test('a lease that somebody keeps is told by the process that waits for it', async () => {
  const { world } = await signedWorld(1);
  await forgeIn(world, (redis, { keys }) => redis.set(keys.lease, 'eve\n', 'PX', 3_600_000));
  await world.store.note('after', 'configured', 'after', {});
  await eventually(() => expect(world.refusals).toEqual(['unsigned-rows']));
});

test('a log that cannot be read at all is told', async () => {
  const { world } = await signedWorld(1);
  await forgeIn(world, (redis, { keys }) => {
    redis.del(keys.head);
    redis.set(keys.head, 'nonsense');
  });
  await eventually(() => expect(world.refusals).toEqual(['failing']));
});
