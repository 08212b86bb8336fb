import type { OutboxItem } from '../../../src/store/port/store.ts';
import { upTo } from './lists.ts';
import type { Verbs, World } from './world.ts';

type OutboxVerbs = Pick<Verbs, 'enqueueOutbox' | 'holdOutbox' | 'claimOutbox' | 'done' | 'retryOutbox'>;

/** Leases due items to one sender; items not done in time go to another. */
export function outboxModel(world: World): OutboxVerbs {
  return {
    enqueueOutbox(_threadId, row) {
      world.send(row);
    },

    holdOutbox(_threadId, row, leaseMs) {
      world.send(row, leaseMs);
      const held = { item: `row|${row.id}`, owner: world.caller, tries: 0 };
      return { kind: 'row', ...held, rowId: row.id, body: row.body };
    },

    claimOutbox({ leaseMs, limit }) {
      const { outbox } = world;
      const due = upTo(
        world.now,
        [...outbox].map(([item, { at }]) => [item, at]),
      );
      return due.slice(0, limit).map((item): OutboxItem => {
        const { row, claim, tries: before = 0 } = outbox.get(item) ?? {};
        const lapsed = claim !== undefined && claim !== world.caller;
        const tries = lapsed ? before + 1 : before;
        outbox.set(item, {
          ...{ at: world.now + leaseMs, claim: world.caller, tries },
          ...(row === undefined ? {} : { row }),
        });
        const held = { item, owner: world.caller, tries };
        const [, id = '', viewId = ''] = item.split('|');
        if (row !== undefined) return { kind: 'row', ...held, rowId: id, body: row };
        if (item.startsWith('digest|')) return { kind: 'digest', ...held, person: id };
        return { kind: 'view', ...held, requestId: id, viewId };
      });
    },

    /** A card that was drawn before the last change is due again, and so is one that an earlier drawing may have replaced. */
    done(outgoing, { revision, postedAt, againMs = 0 } = { revision: 0, postedAt: {} }) {
      const { outbox, sent } = world;
      const { item, owner } = outgoing;
      if (outgoing.kind !== 'view') {
        if (!outbox.has(item)) return 'done';
        if (outbox.get(item)?.claim !== owner) return 'stale';
        outbox.delete(item);
        sent.add(item);
        return 'done';
      }
      const { requestId, viewId } = outgoing;
      if (!outbox.has(item)) {
        if ((world.request(requestId)?.drawn.get(viewId)?.revision ?? 0) <= revision) return 'done';
        outbox.set(item, { at: world.now, tries: 0 });
        return 'due-again';
      }
      if (outbox.get(item)?.claim !== owner) return 'stale';
      outbox.delete(item);
      const request = world.request(requestId);
      request?.drawn.set(viewId, { revision, postedAt });
      if (request === undefined) return 'done';
      if (againMs > 0)
        outbox.set(`${item.replace(/\|again$/, '')}|again`, { at: world.now + againMs, tries: 0 });
      if (request.revision > revision) {
        outbox.set(item, { at: world.now, tries: 0 });
        return 'due-again';
      }
      return againMs > 0 ? 'due-later' : 'done';
    },

    retryOutbox({ item, owner }, delayMs, { isUnsent = false } = {}) {
      const outgoing = world.outbox.get(item);
      if (outgoing?.claim !== owner) return 'stale';
      outgoing.claim = undefined;
      if (!isUnsent) outgoing.tries += 1;
      outgoing.at = world.now + delayMs;
      return 'later';
    },
  };
}
