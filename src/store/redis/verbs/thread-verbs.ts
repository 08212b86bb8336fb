import { randomUUID } from 'node:crypto';
import { canonicalJson } from '../../../agent/json.ts';
import { readMessages } from '../../../agent/messages.ts';
import { isThreadId, type Keys, requestIdOf } from '../../port/keys.ts';
import type { EnqueueResult } from '../../port/results.ts';
import type { Store } from '../../port/store.ts';
import type { Actor, EnqueueOptions, InboxItem } from '../../port/values.ts';
import { type Named, pack, type RedisClient, type RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import { readClaimedTurn, readItem } from './read-turn.ts';

type ThreadVerbs = Pick<Store, 'enqueue' | 'stop' | 'unquarantine' | 'waitingIn' | 'readThread' | 'retire'>;

/** The verbs about a whole thread. */
export function threadVerbs(run: RunScript, client: RedisClient, keys: Keys): ThreadVerbs {
  return {
    async enqueue(threadId, item, options = {}) {
      if (!isThreadId(threadId)) return { outcome: 'invalid-thread' };
      const { leaseMs, stops } = options;
      const [who = '', body = '', digest = ''] = stops === undefined ? [] : stopFields(run, stops);
      const values = { ...itemValues(item, options), who, body, digest };
      if (leaseMs === undefined) {
        const args = [pack({ ...values, owner: '', lease: 0 })];
        return readEnqueued(new ScriptReply(await run('enqueue', { threadId, args })), options);
      }
      const args = [pack({ ...values, owner: randomUUID(), lease: leaseMs })];
      const { reply: raw, log } = await run.withLog('enqueue', { threadId, args });
      const reply = new ScriptReply(raw);
      if (reply.code === 'waiting')
        return { outcome: 'waiting', requestIds: reply.strings(1).map((id) => requestIdOf(threadId, id)) };
      const enqueued = readEnqueued(reply);
      if (enqueued.outcome !== 'enqueued') return enqueued;
      return { ...enqueued, turn: await readClaimedTurn(run, threadId, reply.after(4), log) };
    },

    async stop(threadId, stopper) {
      if (!isThreadId(threadId)) return { outcome: 'idle' };
      const args = stopFields(run, stopper);
      const reply = new ScriptReply(await run('stop', { threadId, args }));
      return { outcome: reply.oneOf('stopping', 'idle') };
    },

    async unquarantine(threadId, evidence) {
      if (!isThreadId(threadId)) return { outcome: 'not-quarantined' };
      const reply = new ScriptReply(await run('unquarantine', { threadId, args: run.auditBody(evidence) }));
      return { outcome: reply.oneOf('unquarantined', 'not-quarantined') };
    },

    async waitingIn(threadId) {
      if (!isThreadId(threadId)) return [];
      const round = await client.hgetall(keys.round(threadId));
      return Object.keys(round)
        .filter((interruptId) => round[interruptId] === 'pending')
        .map((interruptId) => requestIdOf(threadId, interruptId));
    },

    async readThread(threadId, { inboxOnly = false } = {}) {
      if (!isThreadId(threadId)) return { messages: [], inbox: [], seen: [] };
      // The inbox comes first: what moves into the log meanwhile is then in both, and not in neither.
      const inbox = await client.lrange(keys.inbox(threadId), 0, -1);
      if (inboxOnly) return { messages: [], inbox: inbox.map(readItem), seen: [] };
      const [log, seen, isQuarantined] = await Promise.all([
        client.lrange(keys.log(threadId), 0, -1),
        client.zrange(keys.seen(threadId), '0', '-1'),
        client.hexists(keys.thread(threadId), 'quarantine'),
      ]);
      const read = { messages: readMessages(log), inbox: inbox.map(readItem), seen };
      return isQuarantined === 1 ? { ...read, isQuarantined: true } : read;
    },

    async retire(threadId, { early = false } = {}) {
      const reply = new ScriptReply(await run('retire', { threadId, args: [early ? 1 : 0] }));
      return { outcome: reply.oneOf('retired', 'not-due', 'in-use') };
    },
  };
}

function itemValues({ id, body }: InboxItem, { onlyKnown = false, bodyAtWork }: EnqueueOptions): Named {
  const atWork = bodyAtWork === undefined ? '' : canonicalJson({ id, body: bodyAtWork });
  return { id, item: canonicalJson({ id, body }), known: onlyKnown ? 1 : 0, at_work: atWork };
}

function stopFields(run: RunScript, { who, evidence }: Omit<Actor, 'eligible'>): string[] {
  return [who, ...run.auditBody(evidence)];
}

function readEnqueued(reply: ScriptReply, { stops }: Pick<EnqueueOptions, 'stops'> = {}): EnqueueResult {
  if (reply.code !== 'enqueued') return { outcome: reply.oneOf('duplicate', 'unknown-thread') };
  return {
    outcome: 'enqueued',
    waiting: reply.number(1),
    place: reply.number(2),
    busy: reply.string(3) === '1',
    ...(stops !== undefined && { stop: { token: reply.string(4) || undefined, at: reply.number(5) } }),
  };
}
