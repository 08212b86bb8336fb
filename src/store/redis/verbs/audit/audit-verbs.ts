import { z } from 'zod';
import type { AuditEnds, AuditRow, AuditStore } from '../../../port/audit.ts';
import { ChainCheck } from '../../../record/chain-check.ts';
import type { Keys } from '../../../record/keys.ts';
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

/** The audit log: one chain, in which every row covers the hash of the row before it. */
export function auditVerbs(run: RunScript, client: RedisClient, keys: Keys): AuditStore {
  const stream = keys.shared('audit');
  const ends = keys.shared('head');
  const call = (name: 'note' | 'trim-audit', args: (string | number)[]) => run(name, { threadId: '', args });

  async function* rowsAfter(seq = 0): AsyncGenerator<AuditRow> {
    for (let last = `${seq}-0`; ; ) {
      const page = await client.xrange(stream, `(${last}`, '+', 'COUNT', PAGE);
      for (const [id, flat] of page) {
        last = id;
        yield parseRow(Number(id.split('-')[0]), flat);
      }
      if (page.length < PAGE) return;
    }
  }

  async function readEnds(): Promise<AuditEnds> {
    const [seq, hash, base, baseHash] = await client.hmget(ends, 'seq', 'hash', 'base', 'base_hash');
    return {
      base: { seq: Number(base ?? 0), hash: baseHash ?? '' },
      head: { seq: Number(seq ?? 0), hash: hash ?? '' },
    };
  }

  return {
    ...checkpointVerbs(run, client, keys),

    async note(noteId, event, subject, body) {
      await call('note', [noteId, event, subject, ...run.auditBody(body)]);
    },

    exportAudit: rowsAfter,

    auditEnds: readEnds,

    async verifyAudit(marks = []) {
      const { base } = await readEnds();
      const check = new ChainCheck(base, marks);
      for await (const row of rowsAfter()) check.add(row);
      // The log may have grown meanwhile, so the rows up to the current head are read as well.
      const { head } = await readEnds();
      for await (const row of rowsAfter(check.last)) {
        if (row.seq > head.seq) break;
        check.add(row);
      }
      return { problems: check.end(head), rows: check.rows };
    },

    async trimAudit({ seq, hash }) {
      const reply = new ScriptReply(await call('trim-audit', [seq, hash]));
      if (reply.code === 'trimmed') return { outcome: 'trimmed', rows: reply.number(1) };
      return { outcome: 'not-as-exported' };
    },
  };
}

function parseRow(seq: number, flat: readonly string[]): AuditRow {
  const pairs = flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]] as const] : []));
  const { t, e, s, d, b, h } = Fields.parse(Object.fromEntries(pairs));
  return { seq, at: t, event: e, subject: s, detail: d, body: b, hash: h };
}
