import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Screen } from '../navigation/routes.ts';

const NEAR_PX = 60;

interface Scroll {
  readonly isAtBottom: boolean;
  toBottom(): void;
}

/**
 * Keeps the end of a list in view while it grows, unless the person scrolled up or opened a link to a message; sending a
 * message scrolls to the end again. A message with the focus stays in view when it changes its height, as a card does
 * after a decision.
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
  /** The message with the focus, if it was in view before the list changed its height. */
  const shownFocus = useRef<Element>(undefined);
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
    const settle = (): void => {
      const isHidden = element.clientHeight === 0;
      if (isHidden) return;
      if (isPinned.current) element.scrollTop = element.scrollHeight;
      else if (shownFocus.current?.isConnected === true && focusInView(element) === undefined)
        shownFocus.current.scrollIntoView({ block: 'nearest' });
      heights.current = heightsOf(element);
      remember();
    };
    const remember = (): void => {
      isPinned.current = isNearEnd(element);
      setAtBottom(isPinned.current);
      shownFocus.current = focusInView(element);
    };
    const follow = (): void => {
      // The browser scrolls by itself when a card shrinks; only scrolling by the person unpins the end.
      if (heights.current === heightsOf(element)) remember();
      else settle();
    };
    const followFocus = (): void => {
      if (heights.current === heightsOf(element)) shownFocus.current = focusInView(element);
    };
    settle();
    const observer = new ResizeObserver(settle);
    observer.observe(content);
    observer.observe(element);
    element.addEventListener('scroll', follow);
    element.addEventListener('focusin', followFocus);
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', follow);
      element.removeEventListener('focusin', followFocus);
    };
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
  return { isAtBottom, toBottom };
}

function isNearEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight < NEAR_PX;
}

function focusInView(list: HTMLElement): Element | undefined {
  const message = list.querySelector('[data-ts]:focus-within');
  if (message === null) return undefined;
  const { top, bottom } = message.getBoundingClientRect();
  const box = list.getBoundingClientRect();
  return bottom > box.top && top < box.bottom ? message : undefined;
}

function heightsOf({ scrollHeight, clientHeight }: HTMLElement): string {
  return `${scrollHeight} ${clientHeight}`;
}
