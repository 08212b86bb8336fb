import type { OutboxItem } from '../../../src/store/port/values.ts';
import { upTo } from './lists.ts';
import { summaryOf } from './summaries.ts';
import type { Verbs, World } from './world.ts';

type OutboxVerbs = Pick<Verbs, 'enqueueOutbox' | 'claimOutbox' | 'done' | 'retryOutbox'>;

/** Leases due items to one sender; items not done in time go to another. */
export function outboxModel(world: World): OutboxVerbs {
  return {
    enqueueOutbox(_threadId, row, leaseMs) {
      world.send(row, leaseMs);
      const owner = leaseMs === undefined ? '' : world.caller;
      return { kind: 'row', item: `row|${row.id}`, owner, tries: 0, rowId: row.id, body: row.body };
    },

    claimOutbox({ leaseMs, limit }) {
      const { outbox } = world;
      const due = upTo(
        world.now,
        [...outbox].map(([item, { at }]) => [item, at]),
      );
      return due.slice(0, limit).map((item): OutboxItem => {
        const { row, claim, tries: before = 0, at, since = at } = outbox.get(item) ?? {};
        const lapsed = claim !== undefined && claim !== world.caller;
        const tries = lapsed ? before + 1 : before;
        outbox.set(item, {
          ...{ at: world.now + leaseMs, claim: world.caller, tries },
          ...(row === undefined ? {} : { row }),
          since,
        });
        const held = { item, owner: world.caller, tries };
        const [, id = '', viewId = ''] = item.split('|');
        if (row !== undefined) return { kind: 'row', ...held, rowId: id, body: row };
        if (item.startsWith('summary|')) return { kind: 'summary', ...held, person: id };
        return { kind: 'view', ...held, requestId: id, viewId };
      });
    },

    /** A card that was drawn before the last change is due again, and so is one that an earlier drawing may have replaced. */
    done(outgoing, drawn = { revision: 0, postedAt: {} }) {
      const { outbox, sent } = world;
      const { item, owner, kind } = outgoing;
      const { revision, postedAt, againMs = 0, number = 0, gone = [] } = drawn;
      const summary = kind === 'summary' ? summaryOf(world, outgoing.person) : undefined;
      const request = kind === 'view' ? world.request(outgoing.requestId) : undefined;
      if (!outbox.has(item)) {
        const before = kind === 'view' ? request?.drawn.get(outgoing.viewId)?.revision : summary?.drawn;
        if ((before ?? 0) <= revision) return 'done';
        outbox.set(item, { at: world.now, tries: 0 });
        return 'due-again';
      }
      if (outbox.get(item)?.claim !== owner) return 'stale';
      outbox.delete(item);
      if (kind === 'row') sent.add(item);
      if (kind === 'view') request?.drawn.set(outgoing.viewId, { revision, postedAt });
      if (summary !== undefined && number !== summary.number)
        Object.assign(summary, { number, postedAt: world.now, postedRevision: revision });
      if (summary !== undefined) Object.assign(summary, { drawn: revision, place: postedAt });
      const current = summary ?? request;
      if (current === undefined) return 'done';
      const later = kind === 'view' ? `${item.replace(/\|again$/, '')}|again` : item;
      if (againMs > 0) outbox.set(later, { at: world.now + againMs, tries: 0 });
      if (current.revision > revision) {
        outbox.set(item, { at: world.now, tries: 0 });
        return 'due-again';
      }
      for (const id of gone) summary?.on.delete(id);
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
