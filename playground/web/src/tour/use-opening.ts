import { useEffect, useRef } from 'react';
import { usePeople, usePlayground } from '../client/store.ts';
import { replaceRoute } from '../navigation/routes.ts';
import { chooseAsker } from '../people/choose-asker.ts';
import { screenOfThread } from './use-begin-step.ts';

/** True when the page was loaded at the bare address, which names no screen. */
const isBareAddress = window.location.pathname === '/';

/**
 * Opens the bare address where there is something to do: at the card that waits in the first act; for a manifest of one's own as a
 * person who asks.
 */
export function useOpening(): void {
  const { tour, calls } = usePlayground();
  const people = usePeople();
  const isOver = useRef(!isBareAddress);
  const [act] = tour;
  useEffect(() => {
    if (isOver.current) return;
    if (calls !== undefined) {
      isOver.current = true;
      const as = chooseAsker(people);
      if (as !== undefined) replaceRoute({ as });
    }
    if (act === undefined || (!act.isDone && act.thread === undefined)) return;
    isOver.current = true;
    const [first] = act.next;
    if (!act.isDone && first !== undefined)
      replaceRoute({ as: first.as, screen: screenOfThread(act.thread, act.channel) });
  }, [act, calls, people]);
}
