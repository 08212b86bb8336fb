import type { Freeze, NewFreeze } from '../../../src/store/port/freezes.ts';
import { runsOf, upTo } from './lists.ts';
import type { Request, Shard, Verbs, World } from './world.ts';

type FreezeVerbs = Pick<Verbs, 'freeze' | 'unfreeze' | 'readFreezes' | 'spreadFreezes' | 'redraw'>;

/** A freeze of the table, with the epoch that it was made in. */
export type Frozen = Omit<NewFreeze, 'evidence'> & { readonly at: number; readonly epoch: number };

/** The freeze that holds for a tool in a shard. */
export function freezeIn({ frozen }: Shard, tool: string): Frozen | undefined {
  return (
    frozen.freezes.find(({ scope }) => scope === '*') ?? frozen.freezes.find(({ scope }) => scope === tool)
  );
}

/** One table says what is frozen, and every shard has the copy that was brought to it last. */
export function freezeModel(world: World): FreezeVerbs {
  const { table } = world;

  const auditTable = (scope: string, event: string, detail: string) =>
    world.shard(0).audit.push([world.now, event, `freeze:${scope}`, detail].join(' '));

  const redrawFor = (request: Request, cause: string) => {
    if (request.redrawnFor !== cause) world.redraw(request);
    request.redrawnFor = cause;
  };

  const openIn = (shard: Shard, state: Request['state']) =>
    [...shard.requests.values()]
      .filter((request) => request.state === state)
      .sort((a, b) => (a.asked.id < b.asked.id ? -1 : 1));

  return {
    freeze({ scope, id, who, reason }) {
      const current = table.freezes.get(scope);
      if (current !== undefined) return { outcome: current.id === id ? 'frozen' : 'already-frozen' };
      table.epoch += 1;
      table.freezes.set(scope, { scope, id, who, reason, at: world.now, epoch: table.epoch });
      auditTable(scope, 'frozen', id);
      return { outcome: 'frozen' };
    },

    unfreeze({ scope, shown, id, who, eligible, quorum, stillEligible }) {
      const current = table.freezes.get(scope);
      if (table.ended.get(scope) === id) return { outcome: 'unfrozen' };
      if (current === undefined) return { outcome: 'not-frozen' };
      if (shown !== undefined && shown !== current.id) return { outcome: 'not-as-shown' };
      if (!eligible) return { outcome: 'not-eligible' };
      const before = table.votes.get(scope) ?? [];
      const votes = before.filter((person) => person !== who && stillEligible.includes(person)).length + 1;
      if (!before.includes(who)) {
        table.votes.set(scope, [...before, who]);
        auditTable(scope, 'unfreeze-voted', `${who} ${votes} of ${quorum}`);
      }
      if (votes < quorum) return { outcome: 'voted', votes };
      table.epoch += 1;
      table.freezes.delete(scope);
      table.votes.delete(scope);
      table.ended.set(scope, id);
      auditTable(scope, 'unfrozen', who);
      return { outcome: 'unfrozen' };
    },

    readFreezes() {
      const freezes = [...table.freezes.values()].map(
        ({ epoch: _epoch, ...freeze }): Freeze => ({ ...freeze, votes: table.votes.get(freeze.scope) ?? [] }),
      );
      return {
        epoch: table.epoch,
        freezes: freezes.sort((a, b) => a.at - b.at || (a.scope < b.scope ? -1 : 1)),
      };
    },

    spreadFreezes(shards = []) {
      const held: string[] = [];
      const redrawn: string[] = [];
      for (const number of shards) {
        const shard = world.shard(number);
        if (shard.frozen.shown >= table.epoch) continue;
        shard.frozen = { shown: table.epoch, freezes: [...table.freezes.values()] };
        for (const request of openIn(shard, 'approved'))
          request.runAt = Math.min(world.now, request.runAt ?? request.since);
        held.push(...upTo(Number.POSITIVE_INFINITY, runsOf(shard)));
        for (const request of [...openIn(shard, 'pending'), ...openIn(shard, 'approved')]) {
          redrawFor(request, `freezes ${table.epoch}`);
          redrawn.push(request.asked.id);
        }
      }
      return { held, redrawn };
    },

    redraw(requestId, cause) {
      const request = world.request(requestId);
      if (request === undefined) return { outcome: 'unknown' };
      const isOpen = ['pending', 'approved', 'started', 'unknown'].includes(request.state);
      if (!isOpen && request.granted !== true)
        return { outcome: 'settled', state: request.state, by: request.by ?? '' };
      redrawFor(request, cause);
      return { outcome: 'redrawn' };
    },
  };
}
