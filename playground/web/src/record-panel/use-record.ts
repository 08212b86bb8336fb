import { useEffect, useState } from 'react';
import type { ThreadRecord } from '../../../record-protocol.ts';
import { fetchRecord } from '../client/act.ts';

const PERIOD_MS = 1000;

/** A thread's record and Redis's current time. */
export interface FollowedRecord {
  readonly isLoading: boolean;
  readonly record?: ThreadRecord;
  readonly now: number;
}

interface Reading {
  readonly threadId: string;
  readonly record?: ThreadRecord;
  /** The page's clock when the record arrived. */
  readonly at: number;
}

/** Loads a thread's record every second while the page is visible, and advances Redis's time in between. */
export function useRecord(threadId: string): FollowedRecord {
  const [reading, setReading] = useState<Reading>();
  const [clock, setClock] = useState(() => performance.now());

  useEffect(() => {
    let isOver = false;
    let isReading = false;
    async function readOnce(): Promise<void> {
      if (isReading || document.hidden) return;
      isReading = true;
      const record = await fetchRecord(threadId);
      isReading = false;
      if (isOver) return;
      const at = performance.now();
      setClock(at);
      setReading((last) => {
        if (record !== undefined) return { threadId, record, at };
        // A server that is briefly unavailable must not empty the panel.
        return last?.threadId === threadId ? last : { threadId, at };
      });
    }
    function tick(): void {
      setClock(performance.now());
      void readOnce();
    }
    tick();
    const timer = window.setInterval(tick, PERIOD_MS);
    document.addEventListener('visibilitychange', tick);
    return () => {
      isOver = true;
      window.clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, [threadId]);

  if (reading?.threadId !== threadId) return { isLoading: true, now: 0 };
  const { record, at } = reading;
  if (record === undefined) return { isLoading: false, now: 0 };
  return { isLoading: false, record, now: record.now + Math.max(0, clock - at) };
}
