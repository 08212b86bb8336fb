import { Keys } from '../../src/store/record/keys.ts';
import { connectRedis } from '../../src/store/redis/connect.ts';
import type { RecordedRequest, ThreadRecord } from '../record-protocol.ts';
import { followRequests } from './follow-requests.ts';
import { readThread } from './read-thread.ts';

export interface RecordReaderOptions {
  readonly redisUrl: string;
  readonly prefix?: string;
}

export interface RecordReader {
  /** All that is held of one thread; `undefined` when nothing is. */
  read(threadId: string): Promise<ThreadRecord | undefined>;
  /** Every request there is, oldest first; cheap enough to be asked every second. */
  allRequests(): Promise<readonly RecordedRequest[]>;
  close(): Promise<void>;
}

/** Looks at the record beside a running bot: it takes no lock and changes nothing, whatever it finds. */
export async function openRecordReader(options: RecordReaderOptions): Promise<RecordReader> {
  const { redisUrl, prefix = 'countersign:' } = options;
  const client = await connectRedis({ mode: 'single', urls: [redisUrl] });
  const keys = new Keys(prefix);
  return {
    read: (threadId) => readThread(client, keys, threadId),
    allRequests: followRequests(client, keys),
    async close() {
      await client.quit();
    },
  };
}
