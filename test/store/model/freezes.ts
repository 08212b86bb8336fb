import type { Freeze, NewFreeze } from '../../../src/store/port/workspace.ts';
import { runsOf, upTo } from './lists.ts';
import { isCovered, isSettled, type Request, settled, type Verbs, type World } from './world.ts';

type FreezeVerbs = Pick<Verbs, 'freeze' | 'unfreeze' | 'readFreezes' | 'showFreeze' | 'redraw'>;

/** A freeze of the table. */
export type Frozen = Omit<NewFreeze, 'evidence'> & { readonly at: number };

/** The freeze that holds for a tool. */
export function freezeIn({ table: { freezes } }: World, tool: string): Frozen | undefined {
  return freezes.get('*') ?? freezes.get(tool);
}

/** One table says what is frozen. */
export function freezeModel(world: World): FreezeVerbs {
  const { table } = world;

  const auditTable = (scope: string, event: string, detail: string) =>
    world.audited.push([world.now, event, `freeze:${scope}`, detail].join(' '));

  const redrawFor = (request: Request, cause: string) => {
    if (request.redrawnFor !== cause) world.redraw(request);
    request.redrawnFor = cause;
  };

  const openIn = (state: Request['state']) =>
    [...world.requests.values()]
      .filter((request) => request.state === state && !(state === 'pending' && isCovered(request)))
      .sort((a, b) => (a.asked.id < b.asked.id ? -1 : 1));

  return {
    freeze({ scope, id, who, reason }) {
      const current = table.freezes.get(scope);
      if (current !== undefined) return { outcome: current.id === id ? 'frozen' : 'already-frozen' };
      table.freezes.set(scope, { scope, id, who, reason, at: world.now });
      world.toShow.set(id, world.now);
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
      table.freezes.delete(scope);
      table.votes.delete(scope);
      table.ended.set(scope, id);
      world.toShow.set(id, world.now);
      auditTable(scope, 'unfrozen', who);
      return { outcome: 'unfrozen' };
    },

    readFreezes() {
      const freezes = [...table.freezes.values()].map(
        (freeze): Freeze => ({ ...freeze, votes: table.votes.get(freeze.scope) ?? [] }),
      );
      return {
        freezes: freezes.sort((a, b) => a.at - b.at || (a.scope < b.scope ? -1 : 1)),
      };
    },

    showFreeze(change) {
      const redrawn = [...openIn('pending'), ...openIn('approved')];
      for (const request of redrawn) redrawFor(request, `freeze ${change}`);
      world.toShow.delete(change);
      return {
        toRun: upTo(Number.POSITIVE_INFINITY, runsOf(world)),
        redrawn: redrawn.map(({ asked }) => asked.id),
      };
    },

    redraw(requestId, { cause = '', views = [] }) {
      const request = world.request(requestId);
      if (request === undefined) return { outcome: 'unknown' };
      const isShown = !isSettled(request) || (request.granted === true && views.length === 0);
      if (!isShown) return settled(request);
      if (cause !== '') redrawFor(request, cause);
      return { outcome: 'redrawn', added: world.addViews(request, views) };
    },
  };
}
