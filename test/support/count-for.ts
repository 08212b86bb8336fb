/** True in the full form, which `npm run test:full` plays. */
export const isFull = process.env.COUNTERSIGN_TESTS === 'full';

/** Gives how often a random test plays: what the variable `COUNTERSIGN_<name>` says, or the count of the form that runs. */
export function countFor(
  name: string,
  { quick, full }: { readonly quick: number; readonly full: number },
): number {
  const given = process.env[`COUNTERSIGN_${name}`];
  if (given === undefined) return isFull ? full : quick;
  const count = Number(given);
  if (!Number.isInteger(count) || count < 1) throw new Error(`COUNTERSIGN_${name} is no count: ${given}`);
  return count;
}
