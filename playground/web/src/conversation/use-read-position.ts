import { useEffect, useState } from 'react';
import { act } from '../client/act.ts';

interface Line {
  readonly channel: string;
  readonly threadTs?: string;
  /** The last rendered message. */
  readonly latest: string | undefined;
  readonly lastRead: string;
  readonly unread: number;
  /** True when the last message is on the screen. */
  readonly isAtBottom: boolean;
}

/**
 * Stores the read position while the end of a timeline is on the screen, and returns where the "New" divider belongs: at
 * the position when the timeline was opened or the window got visible again; undefined when nothing was unread.
 */
export function useReadPosition({
  channel,
  threadTs,
  latest,
  lastRead,
  unread,
  isAtBottom,
}: Line): string | undefined {
  const isWatched = useIsWatched();
  const [newFrom, setNewFrom] = useState(unread > 0 ? lastRead : undefined);
  const isBehind = unread > 0 && !(isWatched && isAtBottom);
  useEffect(() => {
    if (isBehind) setNewFrom(lastRead);
  }, [isBehind, lastRead]);
  const hasNews = latest !== undefined && latest > lastRead;
  useEffect(() => {
    if (!isWatched || !isAtBottom || !hasNews || latest === undefined) return;
    void act('read', { channel, ts: latest, ...(threadTs !== undefined && { threadTs }) });
  }, [isWatched, isAtBottom, hasNews, latest, channel, threadTs]);
  return newFrom;
}

function useIsWatched(): boolean {
  const [isWatched, setWatched] = useState(document.visibilityState === 'visible');
  useEffect(() => {
    const look = (): void => setWatched(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return isWatched;
}
