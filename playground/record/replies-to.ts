import type { ChainableCommander } from 'ioredis';

/** Sends the commands and gives their replies in order; of a transaction, nothing changes between two of them. */
export async function repliesTo(commands: ChainableCommander): Promise<unknown[]> {
  const replies = (await commands.exec()) ?? [];
  return replies.map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
}
