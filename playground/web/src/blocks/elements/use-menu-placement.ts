import { type RefObject, useLayoutEffect } from 'react';

const MARGIN_PX = 8;

/** Shows a menu in front of everything, beside its trigger, and keeps it there while anything scrolls. */
export function useMenuPlacement(
  menu: RefObject<HTMLElement | null>,
  trigger: RefObject<HTMLElement | null>,
): void {
  useLayoutEffect(() => {
    const place = () => placeMenu(menu.current, trigger.current);
    menu.current?.showPopover();
    place();
    document.addEventListener('scroll', place, true);
    window.addEventListener('resize', place);
    return () => {
      document.removeEventListener('scroll', place, true);
      window.removeEventListener('resize', place);
    };
  }, [menu, trigger]);
}

/** Places the menu below its trigger, or above where there is no space below, and always inside the window. */
function placeMenu(menu: HTMLElement | null, trigger: HTMLElement | null): void {
  if (menu === null || trigger === null) return;
  const { top, bottom, left } = trigger.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = menu;
  const isBelow = bottom + offsetHeight + MARGIN_PX <= window.innerHeight;
  const lowest = window.innerHeight - offsetHeight - MARGIN_PX;
  const x = Math.min(left, window.innerWidth - offsetWidth - MARGIN_PX);
  const y = isBelow ? bottom : Math.min(top - offsetHeight, lowest);
  menu.style.left = `${Math.max(MARGIN_PX, x)}px`;
  menu.style.top = `${Math.max(MARGIN_PX, y)}px`;
}
