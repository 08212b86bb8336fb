import { z } from 'zod';
import type { AuditRow, AuditStore, StoredCheckpoint } from '../../port/audit.ts';
import type { Keys } from '../../port/keys.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';

const PAGE = 500;
/** A missing field must not block the rest of the log; the row's hash no longer fits and reveals it. */
const Part = z.string().catch('');
const Fields = z.object({
  v: z.coerce.number().catch(0),
  t: z.coerce.number().catch(0),
  e: Part,
  s: Part,
  d: Part,
  b: Part,
  h: Part,
});

/** The audit log: one chain, in which every row covers the hash of the row before it, and its checkpoints. */
export function auditVerbs(run: RunScript, client: RedisClient, keys: Keys): AuditStore {
  const checkpoints = keys.shared('checkpoints');
  const call = async (
    name: 'note' | 'trim-audit' | 'append-checkpoint',
    args: readonly (string | number)[],
  ) => new ScriptReply(await run(name, { threadId: '', args }));

  /** Yields what a stream holds after a number, in order, a page at a time. */
  async function* readStream<Entry>(
    stream: string,
    after: number,
    read: (n: number, flat: readonly string[]) => Entry,
  ): AsyncGenerator<Entry> {
    for (let last = `${after}-0`; ; ) {
      const page = await client.xrange(stream, `(${last}`, '+', 'COUNT', PAGE);
      for (const [id, flat] of page) {
        last = id;
        yield read(numberOf(id), flat);
      }
      if (page.length < PAGE) return;
    }
  }

  return {
    async note(noteId, event, subject, body) {
      await call('note', [noteId, event, subject, ...run.auditBody(body)]);
    },

    exportAudit: (after = 0) => readStream(keys.shared('audit'), after, parseRow),

    async auditEnds() {
      const [newest] = await client.xrevrange(checkpoints, '+', '-', 'COUNT', 1);
      const ends = await client.hmget(keys.shared('head'), 'seq', 'hash', 'base', 'base_hash');
      const [seq, hash, base, baseHash] = ends;
      return {
        base: { seq: Number(base ?? 0), hash: baseHash ?? '' },
        head: { seq: Number(seq ?? 0), hash: hash ?? '' },
        checkpoint: newest && parseCheckpoint(numberOf(newest[0]), newest[1]),
      };
    },

    async trimAudit(mark = { seq: 0, hash: '' }, firstCheckpoint = 0) {
      const reply = await call('trim-audit', [mark.seq, mark.hash, firstCheckpoint]);
      if (reply.code !== 'trimmed') return { outcome: 'not-as-exported' };
      return { outcome: 'trimmed', rows: reply.number(1), checkpoints: reply.number(2) };
    },

    async appendCheckpoint(owner, { n, hash, previous, text }) {
      const reply = await call('append-checkpoint', [owner, n, hash, previous, text]);
      return reply.oneOf('appended', 'not-held', 'not-next');
    },

    readCheckpoints: (after = 0) => readStream(checkpoints, after, parseCheckpoint),
  };
}

function numberOf(id: string): number {
  return Number(id.split('-')[0]);
}

function parseRow(seq: number, flat: readonly string[]): AuditRow {
  const pairs = flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]] as const] : []));
  const { v, t, e, s, d, b, h } = Fields.parse(Object.fromEntries(pairs));
  return { v, seq, at: t, event: e, subject: s, detail: d, body: b, hash: h };
}

function parseCheckpoint(n: number, [, hash = '', , text = '']: readonly string[]): StoredCheckpoint {
  return { n, hash, text };
}
