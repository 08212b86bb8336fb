import type { Delegation } from '../../../src/store/port/workspace.ts';
import type { Request, Verbs, World } from './world.ts';

type DelegationVerbs = Pick<Verbs, 'delegate' | 'endDelegation' | 'readDelegations'>;

/** A delegation signs for the one to whom it was given, before its time is over, and if the policy allows it. */
export function standsFor(world: World, { asked }: Request, who: string, delegator: string): boolean {
  const given = world.delegations.given.get(delegator);
  return asked.policy.delegation === true && given?.to === who && world.now < given.until;
}

/** Everybody has a part in one vote only, their own or one that was cast for them; the first other voter by name. */
export function voteBeside(
  { votes }: Request,
  who: string,
  delegator: string | undefined,
): string | undefined {
  const parts = [who, ...(delegator === undefined ? [] : [delegator])];
  const others = [...votes].filter(([voter]) => voter !== who).sort(([a], [b]) => (a < b ? -1 : 1));
  return others.find(
    ([voter, { standsFor: represented }]) =>
      voter === delegator || (represented !== undefined && parts.includes(represented)),
  )?.[0];
}

/** One table says who decides for whom. */
export function delegationModel(world: World): DelegationVerbs {
  const { delegations: table } = world;
  const audit = (from: string, event: string, detail: string) =>
    world.audited.push([world.now, event, `delegation:${from}`, detail].join(' '));

  return {
    delegate({ id, from, to, until, reason }) {
      const former = table.given.get(from);
      if (former?.id === id) return { outcome: 'delegated' };
      if (until <= world.now) return { outcome: 'over' };
      if (former !== undefined && former.until > world.now)
        audit(from, 'delegation-ended', `${former.id} replaced`);
      for (const [person, { until: end }] of table.given) if (end <= world.now) table.given.delete(person);
      table.given.set(from, { id, from, to, startedAt: world.now, until, reason });
      audit(from, 'delegated', `${id} ${to} until ${until}`);
      return { outcome: 'delegated' };
    },

    endDelegation({ from, shown, id, who, isAdmin }) {
      const current = table.given.get(from);
      if (table.ended.get(from) === id) return { outcome: 'ended' };
      if (current === undefined || current.until <= world.now) return { outcome: 'none' };
      if (shown !== undefined && shown !== current.id) return { outcome: 'none' };
      if (![current.from, current.to].includes(who) && !isAdmin) return { outcome: 'not-eligible' };
      table.given.delete(from);
      table.ended.set(from, id);
      audit(from, 'delegation-ended', `${current.id} ${who}`);
      return { outcome: 'ended' };
    },

    readDelegations() {
      const byStart = (a: Delegation, b: Delegation) =>
        a.startedAt - b.startedAt || (a.from < b.from ? -1 : 1);
      return { delegations: [...table.given.values()].sort(byStart) };
    },
  };
}
