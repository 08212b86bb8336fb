import { z } from 'zod';
import type { AuditEnds, AuditMark, AuditProblem, AuditRow, AuditStore } from '../../../port/audit.ts';
import { ChainCheck } from '../../../record/chain-check.ts';
import { type Keys, SHARDS, shardOf } from '../../../record/keys.ts';
import type { RedisClient, RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';
import { checkpointVerbs } from './checkpoint-verbs.ts';

const PAGE = 500;
/** A missing field must not block the rest of the log; the row's hash no longer fits and reveals it. */
const Part = z.string().catch('');
const Fields = z.object({
  t: z.coerce.number().catch(0),
  e: Part,
  s: Part,
  d: Part,
  b: Part,
  h: Part,
});

/** The audit log: one chain per shard, in which every row covers the hash of the row before it. */
export function auditVerbs(run: RunScript, client: RedisClient, keys: Keys): AuditStore {
  async function* rowsOf(shard: number, after = 0, pageSize = PAGE): AsyncGenerator<AuditRow> {
    for (let last = `${after}-0`; ; ) {
      const page = await client.xrange(keys.shard(shard, 'audit'), `(${last}`, '+', 'COUNT', pageSize);
      for (const [id, flat] of page) {
        last = id;
        yield parseRow(shard, Number(id.split('-')[0]), flat);
      }
      if (page.length < pageSize) return;
    }
  }

  async function endsOf(shard: number): Promise<AuditEnds> {
    const [seq, hash, base, baseHash] = await client.hmget(
      keys.shard(shard, 'head'),
      'seq',
      'hash',
      'base',
      'base_hash',
    );
    return {
      base: { shard, seq: Number(base ?? 0), hash: baseHash ?? '' },
      head: { shard, seq: Number(seq ?? 0), hash: hash ?? '' },
    };
  }

  return {
    ...checkpointVerbs(run, client, keys),

    async note(noteId, event, subject, body) {
      const shard = shardOf(subject);
      await run('note', { threadId: '', shard, args: [noteId, event, subject, ...run.auditBody(body)] });
    },

    async *exportAudit(after = []) {
      const marks = new Map(after.map((mark) => [mark.shard, mark.seq]));
      for (let shard = 0; shard < SHARDS; shard += 1) yield* rowsOf(shard, marks.get(shard) ?? 0);
    },

    readAudit: rowsOf,

    async auditEnds() {
      const all = await Promise.all([...Array(SHARDS).keys()].map(endsOf));
      return all.filter(({ head }) => head.seq > 0);
    },

    async verifyAudit(marks = []) {
      const byShard = groupByShard(marks);
      const problems: AuditProblem[] = [];
      let rows = 0;
      for (let shard = 0; shard < SHARDS; shard += 1) {
        const { base } = await endsOf(shard);
        const check = new ChainCheck(base, byShard.get(shard) ?? []);
        for await (const row of rowsOf(shard, base.seq)) check.add(row);
        // The log may have grown meanwhile, so the rows up to the current head are read as well.
        const { head } = await endsOf(shard);
        for await (const row of rowsOf(shard, check.last)) {
          if (row.seq > head.seq) break;
          check.add(row);
        }
        problems.push(...check.end(head));
        rows += check.rows;
      }
      return { rows, problems };
    },

    async trimAudit({ shard, seq, hash }) {
      const reply = new ScriptReply(await run('trim-audit', { threadId: '', shard, args: [seq, hash] }));
      if (reply.code === 'trimmed') return { outcome: 'trimmed', rows: reply.number(1) };
      return { outcome: 'not-as-exported' };
    },
  };
}

function groupByShard(marks: readonly AuditMark[]): ReadonlyMap<number, AuditMark[]> {
  const groups = new Map<number, AuditMark[]>();
  for (const mark of marks) {
    const group = groups.get(mark.shard);
    if (group === undefined) groups.set(mark.shard, [mark]);
    else group.push(mark);
  }
  return groups;
}

function parseRow(shard: number, seq: number, flat: readonly string[]): AuditRow {
  const pairs = flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]] as const] : []));
  const { t, e, s, d, b, h } = Fields.parse(Object.fromEntries(pairs));
  return { shard, seq, at: t, event: e, subject: s, detail: d, body: b, hash: h };
}
