import { z } from 'zod';
import { tryParseJson } from '../../../../agent/json.ts';
import type { AuditStore, StoredCheckpoint } from '../../../port/audit.ts';
import type { Keys } from '../../../record/keys.ts';
import type { RedisClient, RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';

type CheckpointVerbs = Pick<
  AuditStore,
  | 'claimExport'
  | 'saveProgress'
  | 'readProgress'
  | 'readLogId'
  | 'appendCheckpoint'
  | 'readCheckpoints'
  | 'lastCheckpoint'
  | 'trimCheckpoints'
>;

const PAGE = 100;
const SINK_FIELD = 'sink:';
const Progress = z.object({ seq: z.int(), checkpoint: z.int() });

/** The checkpoints of the audit log and the progress of its export. */
export function checkpointVerbs(run: RunScript, client: RedisClient, keys: Keys): CheckpointVerbs {
  const stream = keys.shared('checkpoints');
  const exported = keys.shared('export');
  const call = async (
    name: 'claim-export' | 'save-progress' | 'append-checkpoint',
    args: (string | number)[],
  ) => new ScriptReply(await run(name, { threadId: '', args }));

  return {
    async claimExport(owner, leaseMs) {
      return (await call('claim-export', [owner, leaseMs])).oneOf('held', 'other');
    },

    async saveProgress(owner, sink, { seq, checkpoint }) {
      const text = JSON.stringify({ seq, checkpoint });
      return (await call('save-progress', [owner, sink, text])).oneOf('saved', 'not-held');
    },

    async readProgress() {
      const fields = await client.hgetall(exported);
      const sinks = Object.entries(fields).filter(([name]) => name.startsWith(SINK_FIELD));
      return new Map(
        sinks.flatMap(([name, text]) => {
          // Progress that cannot be read is no progress: the sink gets everything again.
          const { data } = Progress.safeParse(tryParseJson(text));
          return data === undefined ? [] : [[name.slice(SINK_FIELD.length), data] as const];
        }),
      );
    },

    async readLogId() {
      return (await client.hget(exported, 'id')) ?? '';
    },

    async appendCheckpoint(owner, { n, hash, previous, text }) {
      const reply = await call('append-checkpoint', [owner, n, hash, previous, text]);
      return reply.oneOf('appended', 'not-held', 'not-next');
    },

    async *readCheckpoints(after = 0) {
      for (let last = `${after}-0`; ; ) {
        const page = await client.xrange(stream, `(${last}`, '+', 'COUNT', PAGE);
        for (const [id, flat] of page) {
          last = id;
          yield toStored(id, flat);
        }
        if (page.length < PAGE) return;
      }
    },

    async lastCheckpoint() {
      const [newest] = await client.xrevrange(stream, '+', '-', 'COUNT', 1);
      return newest === undefined ? undefined : toStored(newest[0], newest[1]);
    },

    async trimCheckpoints(before) {
      return client.xtrim(stream, 'MINID', `${before}-0`);
    },
  };
}

function toStored(id: string, [, hash = '', , text = '']: readonly string[]): StoredCheckpoint {
  return { n: Number(id.split('-')[0]), hash, text };
}
