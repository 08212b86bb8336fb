import { afterAll, beforeAll, describe } from 'vitest';
import type { Store } from '../../src/store/port.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import type { RedisClient } from '../../src/store/run-script.ts';
import { describeBadInput } from './suite-bad-input.ts';
import { describeDecisions } from './suite-decisions.ts';
import { describeLists } from './suite-lists.ts';
import { describeOutbox } from './suite-outbox.ts';
import { describeQuarantine } from './suite-quarantine.ts';
import { describeRuns } from './suite-runs.ts';
import { describeSigning } from './suite-signing.ts';
import { describeThreads } from './suite-threads.ts';
import { describeTime } from './suite-time.ts';

export interface OpenedClient {
  readonly client: RedisClient;
  readonly prefix: string;
  close(): Promise<void>;
}

/** What a test of the suite works on: the store, and the connection under it to look behind. */
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
    describeDecisions(current);
    describeTime(current);
    describeRuns(current);
    describeSigning(current);
    describeOutbox(current);
    describeLists(current);
    describeQuarantine(current);
  });
}
