import type { BotParts } from '../bot-parts.ts';

/** How many requests may be asked, and what is said of those for which there is no room. */
export interface Room {
  readonly granted: number;
  readonly reason: string;
}

/** Finds how many of the wanted requests the limits of the manifest leave room for, in the thread and for the person who asks. */
export async function roomFor(
  { agent, brake }: Pick<BotParts, 'agent' | 'brake'>,
  requester: string,
  wanted: number,
): Promise<Room> {
  // Most turns ask nothing, and they pay for no count.
  if (wanted === 0) return { granted: 0, reason: '' };
  const { pendingPerThread, pendingPerPerson } = agent().limits;
  const inThread = Math.min(wanted, pendingPerThread);
  const { granted, waiting } = await brake.take(requester, inThread, pendingPerPerson);
  const reason =
    granted < inThread
      ? `This person has ${waiting + granted} requests waiting for decisions, over all threads, and may have ${pendingPerPerson}. Ask again when some of them are decided.`
      : `This thread has ${granted} requests waiting for decisions, and may have ${pendingPerThread}. Ask again when they are decided.`;
  return { granted, reason };
}
