import type { AuditEnds, AuditMark, AuditStore } from '../store/port/audit.ts';
import { linkOf, sealOf } from '../store/record/chain-check.ts';
import {
  type Checkpoint,
  checkpointText,
  hashOf,
  isSignedBy,
  parseCheckpoint,
  signCheckpoint,
} from './checkpoint.ts';
import type { SigningKey } from './signing-key.ts';

export interface CheckpointLog {
  error(fields: object, message: string): void;
}

export type CheckpointResult = 'appended' | 'nothing-new' | 'refused' | 'not-held';

/**
 * Signs the current heads of all shards, if anything is new since the last checkpoint. Each shard continues from the head that was
 * signed last; a shard whose rows do not continue it keeps that head, so that a signature never covers a rewritten log.
 */
export async function makeCheckpoint(
  store: AuditStore,
  key: SigningKey,
  owner: string,
  { ends, log }: { readonly ends: readonly AuditEnds[]; readonly log: CheckpointLog },
): Promise<CheckpointResult> {
  const stored = await store.lastCheckpoint();
  const last = stored === undefined ? undefined : parseCheckpoint(stored.text);
  if (stored !== undefined && !(last?.n === stored.n && isTrusted(last, key))) {
    log.error({ checkpoint: stored.n }, 'last checkpoint was changed; no checkpoint is signed');
    return 'refused';
  }
  const signed = new Map((last?.heads ?? []).map((head) => [head.shard, head]));
  const heads = new Map<number, Checkpoint['heads'][number]>(signed);
  for (const { base, head } of ends) {
    const { shard } = head;
    const from: AuditMark = signed.get(shard) ?? { ...base, sha256: base.seq === 0 ? '' : undefined };
    if (head.seq === from.seq && head.hash === from.hash) continue;
    const walked = head.seq > from.seq ? await walk(store, from, head.seq) : undefined;
    if (walked !== undefined) heads.set(shard, toHead(walked));
    else log.error({ shard, seq: from.seq }, 'audit log was changed after it was signed');
  }
  const isNew = [...heads].some(([shard, { seq }]) => seq !== signed.get(shard)?.seq);
  if (!isNew) return 'nothing-new';
  const checkpoint = signCheckpoint(
    {
      n: (last?.n ?? 0) + 1,
      at: Date.now(),
      heads: [...heads.values()].sort((left, right) => left.shard - right.shard),
      previous: last === undefined ? '' : hashOf(last),
    },
    key,
  );
  const { n, previous } = checkpoint;
  const text = checkpointText(checkpoint);
  const appended = await store.appendCheckpoint(owner, { n, hash: hashOf(checkpoint), previous, text });
  return appended === 'not-next' ? 'refused' : appended;
}

/** A checkpoint of an earlier key cannot be checked with this one; the verification needs both public keys. */
function isTrusted(checkpoint: Checkpoint, { id, publicKey }: SigningKey): boolean {
  return checkpoint.keyId !== id || isSignedBy(checkpoint, publicKey);
}

/** Follows the rows of a shard from a known one to a number; `undefined` if they do not continue it. */
async function walk(store: AuditStore, from: AuditMark, until: number): Promise<AuditMark | undefined> {
  let last = from;
  for await (const row of store.readAudit(from.shard, from.seq)) {
    if (row.seq !== last.seq + 1 || linkOf(row, last.hash) !== row.hash) return undefined;
    const sha256 = last.sha256 === undefined ? undefined : sealOf(row, last.sha256);
    last = { shard: row.shard, seq: row.seq, hash: row.hash, sha256 };
    if (row.seq === until) return last;
  }
  return undefined;
}

function toHead({ shard, seq, hash, sha256 }: AuditMark): Checkpoint['heads'][number] {
  return { shard, seq, hash, ...(sha256 !== undefined && { sha256 }) };
}
