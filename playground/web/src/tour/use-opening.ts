import { useEffect, useRef } from 'react';
import { usePlayground } from '../client/store.ts';
import { replaceRoute } from '../navigation/routes.ts';
import { screenOfThread } from './use-begin-step.ts';

/** True when the page was loaded at the bare address, which names no screen. */
const isBareAddress = window.location.pathname === '/';

/** Opens the bare address at the card that waits in the first act. */
export function useOpening(): void {
  const { tour } = usePlayground();
  const isOver = useRef(!isBareAddress);
  const [act] = tour;
  useEffect(() => {
    if (isOver.current || act === undefined) return;
    if (!act.isDone && act.thread === undefined) return;
    isOver.current = true;
    const [first] = act.next;
    if (!act.isDone && first !== undefined)
      replaceRoute({ as: first.as, screen: screenOfThread(act.thread, act.channel) });
  }, [act]);
}
