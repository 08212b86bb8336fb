/** What is needed of a connection to Redis. */
export interface HashReader {
  hvals(key: string): Promise<readonly string[]>;
}

/** The amounts of all refunds that the sample ledger has booked, in cents; one booking a key, as `src/store/redis-ledger.ts` keeps them. */
export async function readRefunds(client: HashReader, prefix = 'countersign:'): Promise<readonly number[]> {
  return (await client.hvals(`${prefix}{ledger}:refunds`)).map(Number);
}
