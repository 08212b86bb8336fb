import type { Request, World } from './world.ts';

/** A delegation signs for the one to whom it was given, before its time is over, and if the policy allows it. */
export function standsFor(world: World, { asked }: Request, who: string, delegator: string): boolean {
  const lines = world.documents.get('delegations|table')?.value.split('\n') ?? [];
  const [, to, until] = lines.map((line) => line.split(' ')).find(([from]) => from === delegator) ?? [];
  return asked.policy.delegation === true && to === who && world.now < Number(until);
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
