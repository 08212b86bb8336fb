import { DEFAULT_PREFIX, Keys } from '../../src/store/port/keys.ts';
import { connectRedis } from '../../src/store/redis/connect.ts';
import type { RecordedRequest, ThreadRecord } from '../record-protocol.ts';
import { followRequests } from './follow-requests.ts';
import { readThread } from './read-thread.ts';

export interface RecordReaderOptions {
  readonly redisUrl: string;
  readonly prefix?: string;
}

export interface RecordReader {
  /** Reads the record of one thread; `undefined` when there is none. */
  read(threadId: string): Promise<ThreadRecord | undefined>;
  /** Lists all requests, oldest first; cheap enough to call every second. */
  allRequests(): Promise<readonly RecordedRequest[]>;
  close(): Promise<void>;
}

/** Opens a read-only view of a running bot's record; it takes no lock and never writes. */
export async function openRecordReader(options: RecordReaderOptions): Promise<RecordReader> {
  const { redisUrl, prefix = DEFAULT_PREFIX } = options;
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
