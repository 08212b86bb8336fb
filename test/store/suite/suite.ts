import { afterAll, beforeAll, describe } from 'vitest';
import type { Store } from '../../../src/store/port/store.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import type { RedisClient } from '../../../src/store/redis/run-script.ts';
import { describeBadInput } from './bad-input.ts';
import { describeDecisions } from './decisions.ts';
import { describeLists } from './lists.ts';
import { describeOutbox } from './outbox.ts';
import { describeQuarantine } from './quarantine.ts';
import { describeRuns } from './runs.ts';
import { describeStops } from './stops.ts';
import { describeThreads } from './threads.ts';
import { describeTime } from './time.ts';
import { describeUsage } from './usage.ts';

export interface OpenedClient {
  readonly client: RedisClient;
  readonly prefix: string;
  close(): Promise<void>;
}

/** The fixture of a suite test: the store, and the connection under it. */
export interface Subject extends OpenedClient {
  readonly store: Store;
}

/** The store's behaviour, whatever Redis it stands on. */
export function describeStore(name: string, openClient: () => Promise<OpenedClient>): void {
  describe(name, () => {
    let subject: Subject | undefined;

    beforeAll(async () => {
      const opened = await openClient();
      subject = { ...opened, store: openRedisStore(opened) };
    });

    afterAll(async () => {
      await subject?.close();
    });

    const current = () => {
      if (subject === undefined) throw new Error('No store was opened');
      return subject;
    };
    // First, because it compares all that is on record, and the others put much there.
    describeBadInput(current);
    describeThreads(current);
    describeStops(current);
    describeDecisions(current);
    describeTime(current);
    describeUsage(current);
    describeRuns(current);
    describeOutbox(current);
    describeLists(current);
    describeQuarantine(current);
  });
}
