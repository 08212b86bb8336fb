import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Screen } from '../navigation/routes.ts';

const NEAR_PX = 60;

interface Scroll {
  readonly isAtBottom: boolean;
  onScroll(): void;
  toBottom(): void;
}

/**
 * Keeps the end of a list in view while it grows, unless the person scrolled up or opened a link to a message; sending a
 * message scrolls to the end again.
 */
export function useScroll(
  box: RefObject<HTMLElement | null>,
  {
    pointedAt,
    screen,
    lastOwn,
  }: { pointedAt: string | undefined; screen: Screen; lastOwn: string | undefined },
): Scroll {
  const [isAtBottom, setAtBottom] = useState(true);
  const isPinned = useRef(true);
  /** The heights of the list and of its box at the last scroll or resize. */
  const heights = useRef('');
  const toBottom = (): void => {
    const element = box.current;
    if (element === null) return;
    isPinned.current = true;
    element.scrollTop = element.scrollHeight;
  };
  useLayoutEffect(() => {
    const element = box.current;
    const content = element?.firstElementChild;
    if (element === null || content === null || content === undefined) return;
    const stick = (): void => {
      if (isPinned.current) element.scrollTop = element.scrollHeight;
      heights.current = heightsOf(element);
    };
    stick();
    const observer = new ResizeObserver(stick);
    observer.observe(content);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link followed once more points at the message once more.
  useEffect(() => {
    if (pointedAt === undefined) return;
    const message = box.current?.querySelector(`[data-ts="${CSS.escape(pointedAt)}"]`);
    isPinned.current = false;
    message?.scrollIntoView({ block: 'center' });
  }, [box, pointedAt, screen]);
  const ownBefore = useRef(lastOwn);
  useEffect(() => {
    const isNew = lastOwn !== undefined && lastOwn !== ownBefore.current;
    ownBefore.current = lastOwn;
    if (!isNew || box.current === null) return;
    isPinned.current = true;
    box.current.scrollTop = box.current.scrollHeight;
  }, [box, lastOwn]);
  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    const isResized = heights.current !== heightsOf(element);
    heights.current = heightsOf(element);
    // A card that changes its height moves the list too; only scrolling by the person unpins the end.
    if (isResized && isPinned.current && !isNear) {
      element.scrollTop = element.scrollHeight;
      return;
    }
    isPinned.current = isNear;
    setAtBottom(isNear);
  };
  return { isAtBottom, onScroll, toBottom };
}

function heightsOf({ scrollHeight, clientHeight }: HTMLElement): string {
  return `${scrollHeight} ${clientHeight}`;
}
