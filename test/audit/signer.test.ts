import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkpointText, hashOf, parseCheckpoint, signCheckpoint } from '../../src/audit/checkpoint.ts';
import { exportIn } from '../../src/audit/export-progress.ts';
import {
  fileMemory,
  processMemory,
  readSignerState,
  Signer,
  type SignerMemory,
  type SignResult,
} from '../../src/audit/signer.ts';
import { createKeyPair, readSigningKey } from '../../src/audit/signing-key.ts';
import { sha256, verifyChain } from '../../src/store/record/chain-check.ts';
import { writeKey } from '../commands/support.ts';
import { type AuditWorld, backUp, openAuditWorld, rewriteLog } from './support.ts';

const OWNER = 'the process with the lease';

/** A log, and signers of it with memories of their own, as several processes have them. */
async function openSigners() {
  const world = await openAuditWorld();
  const { store, folder } = world;
  const key = await readSigningKey({ file: world.privateKeyFile });
  await exportIn(store).claim(OWNER, 600_000);
  const logged: string[] = [];
  const note = (_fields: object, message: string) => void logged.push(message);
  const signerWith = (memory: SignerMemory, withStore = store): Signer =>
    new Signer({ store: withStore, key, memory, log: { info: note, warn: note }, unsignedAfterMs: 300_000 });
  let rows = 0;
  return {
    ...{ world, store, key, logged, signerWith },
    memoryOf: (name: string) => fileMemory(join(folder, `${name}.state`)),
    write: async () => {
      rows += 1;
      await store.note(`note-${rows}`, 'configured', 'U-ann', { rows, who: 'U-ann' });
    },
    checkpoints: async () => {
      const found = [];
      for await (const { text } of store.readCheckpoints()) found.push(parseCheckpoint(text));
      return found;
    },
  };
}

const sign = (signer: Signer): Promise<SignResult> => signer.sign(OWNER, async () => true);
const refused = (code: string, checkpoint: number) => ({ outcome: 'refused', code, checkpoint });

/** Puts a checkpoint into Redis behind the store's back. */
async function plant({ redis, keys }: AuditWorld, n: number, text: string): Promise<void> {
  await redis.client.xadd(keys.shared('checkpoints'), `${n}-0`, 'h', sha256(text), 'b', text);
}

test('a first start says that it begins, and a later one continues what it remembers', async () => {
  const { signerWith, memoryOf, write, logged, checkpoints } = await openSigners();
  await write();
  expect(await sign(signerWith(memoryOf('one')))).toEqual({ outcome: 'appended' });
  expect(logged).toEqual(['audit signer begins a new series']);
  expect(await sign(signerWith(memoryOf('one')))).toEqual({ outcome: 'nothing-new' });
  await write();
  expect(await sign(signerWith(memoryOf('one')))).toEqual({ outcome: 'appended' });
  expect(logged).toHaveLength(1);
  expect((await checkpoints()).map((checkpoint) => checkpoint?.n)).toEqual([1, 2]);
});

test('a last checkpoint with a wrong signature is never continued, not even by a process that remembers nothing', async () => {
  const { signerWith, write, key, world, store } = await openSigners();
  await write();
  await write();
  const [row] = [(await store.auditEnds()).head];
  const genuine = signCheckpoint({ n: 1, at: 1, ...row, sha256: sha256('x'), previous: '' }, key);
  await plant(world, 1, checkpointText({ ...genuine, sha256: sha256('forged') }));
  expect(await sign(signerWith(processMemory()))).toEqual(refused('checkpoint-changed', 0));
  expect((await store.auditEnds()).checkpoint).toMatchObject({ n: 1 });
});

test('checkpoints that continue the memory must all be signed with a known key', async () => {
  const { signerWith, memoryOf, write, key, world, store } = await openSigners();
  await write();
  await sign(signerWith(memoryOf('one')));
  const first = parseCheckpoint((await store.auditEnds()).checkpoint?.text ?? '');
  if (first === undefined) throw new Error('Nothing was signed');
  const { v: _v, keyId: _id, signature: _signature, ...fields } = first;
  const other = await readSigningKey({
    file: writeKey(world.folder, 'other.pem', createKeyPair().privatePem),
  });
  // The second is forged; the third is genuine in itself, as a replay of something signed elsewhere would be.
  const second = { ...signCheckpoint({ ...fields, n: 2, previous: hashOf(first) }, other), keyId: key.id };
  const third = signCheckpoint({ ...fields, n: 3, previous: hashOf(second) }, key);
  await plant(world, 2, checkpointText(second));
  await plant(world, 3, checkpointText(third));
  await write();
  expect(await sign(signerWith(memoryOf('one')))).toEqual(refused('not-continued', 1));
});

test.each(['before Redis has it', 'after Redis has it'])(
  'a crash %s leaves one checkpoint with its number',
  async (when) => {
    const { signerWith, memoryOf, write, checkpoints, store } = await openSigners();
    await write();
    await sign(signerWith(memoryOf('one')));
    await write();
    const dying: typeof store = {
      ...store,
      appendCheckpoint: async (owner, checkpoint) => {
        if (when === 'after Redis has it') await store.appendCheckpoint(owner, checkpoint);
        throw new Error('killed');
      },
    };
    await expect(sign(signerWith(memoryOf('one'), dying))).rejects.toThrow('killed');
    const { pending } = await memoryOf('one').read();
    expect(pending?.n).toBe(2);
    await write();
    expect(await sign(signerWith(memoryOf('one')))).toEqual({ outcome: 'appended' });
    await sign(signerWith(memoryOf('one')));
    const found = await checkpoints();
    expect(found.map((checkpoint) => [checkpoint?.n, checkpoint?.seq])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(found[1]).toEqual(pending);
  },
);

test('a process takes over what another has signed, and refuses what does not continue its own memory', async () => {
  const { signerWith, memoryOf, write, world, store } = await openSigners();
  const { redis, keys } = world;
  await write();
  await sign(signerWith(memoryOf('one')));
  expect(await signerWith(memoryOf('two')).follow()).toEqual({ outcome: 'followed' });
  for (let count = 0; count < 3; count += 1) {
    await write();
    await sign(signerWith(memoryOf('one')));
  }
  await write();
  expect(await sign(signerWith(memoryOf('two')))).toEqual({ outcome: 'appended' });
  expect((await memoryOf('two').read()).signed?.n).toBe(5);

  // A process without memory is made to sign a forged log until its numbers are higher.
  await rewriteLog(world, (text) => text.replaceAll('U-ann', 'U-eve'));
  await redis.client.del(keys.shared('checkpoints'));
  const fresh = processMemory();
  for (let count = 0; count < 7; count += 1) {
    await sign(signerWith(fresh));
    await write();
  }
  expect((await store.auditEnds()).checkpoint?.n).toBe(7);
  for (const name of ['one', 'two']) {
    const known = (await memoryOf(name).read()).signed?.n ?? 0;
    expect(await sign(signerWith(memoryOf(name)))).toEqual(refused('not-continued', known));
    expect(await signerWith(memoryOf(name)).follow()).toEqual(refused('not-continued', known));
  }
});

test('a signed checkpoint that Redis lost is put back as it was', async () => {
  const { signerWith, memoryOf, write, world, store, checkpoints } = await openSigners();
  await write();
  await sign(signerWith(memoryOf('one')));
  const stored = (await store.auditEnds()).checkpoint;
  await world.redis.client.del(world.keys.shared('checkpoints'));
  expect(await signerWith(memoryOf('one')).follow()).toEqual(refused('checkpoint-missing', 1));
  expect(await sign(signerWith(memoryOf('one')))).toEqual({ outcome: 'appended' });
  expect((await store.auditEnds()).checkpoint).toEqual(stored);
  expect(await checkpoints()).toHaveLength(1);
});

test.each([
  ['one checkpoint', 1],
  ['several checkpoints', 3],
])(
  'a restored log that lacks %s gets nothing put back, and is signed on with a new memory',
  async (_what, lost) => {
    const { signerWith, memoryOf, write, world, store } = await openSigners();
    await write();
    await sign(signerWith(memoryOf('one')));
    await write();
    const restore = await backUp(world);
    for (let round = 0; round < lost; round += 1) {
      await write();
      expect(await sign(signerWith(memoryOf('one')))).toEqual({ outcome: 'appended' });
    }
    await restore();
    const code = refused('older-copy', lost + 1);
    for (const look of ['sign', 'follow', 'inspect'] as const) {
      const signer = signerWith(memoryOf('one'));
      expect([look, await (look === 'sign' ? sign(signer) : signer[look]())]).toEqual([
        look,
        { ...code, checkpoint: expect.any(Number) },
      ]);
    }
    // The log has grown over the number that was signed.
    for (let round = 0; round < lost + 2; round += 1) await write();
    expect(await sign(signerWith(memoryOf('one')))).toMatchObject({ outcome: 'refused', code: 'older-copy' });
    expect((await store.auditEnds()).checkpoint).toMatchObject({ n: 1 });
    expect(await sign(signerWith(memoryOf('new')))).toEqual({ outcome: 'appended' });
    expect((await verifyChain(store)).problems).toEqual([]);
  },
);

test('a memory that cannot be read or written is not the same as none: nothing is signed', async () => {
  const { signerWith, memoryOf, write, world, store } = await openSigners();
  await write();
  const nowhere = fileMemory(join(world.folder, 'none', 'state'));
  expect(await sign(signerWith(nowhere))).toEqual(refused('state-unwritable', 0));
  const memory = memoryOf('one');
  await sign(signerWith(memory));
  const file = join(world.folder, 'one.state');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.slice(0, 40));
  await write();
  expect(await sign(signerWith(memory))).toEqual(refused('state-unreadable', 0));
  await expect(readSignerState(file)).rejects.toThrow('holds no state');
  // A file that is gone is not forgotten while the process lives.
  rmSync(file);
  await rewriteLog(world, (body) => body.replaceAll('U-ann', 'U-eve'));
  await world.redis.client.del(world.keys.shared('checkpoints'));
  expect(await sign(signerWith(memory))).toEqual(refused('older-copy', 1));
  expect((await store.auditEnds()).checkpoint).toBeUndefined();
});
