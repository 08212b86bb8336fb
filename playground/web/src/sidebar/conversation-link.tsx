import type { ReactNode } from 'react';
import { RouteLink } from '../navigation/route-link.tsx';
import type { Place } from '../navigation/routes.ts';
import { uncoverPlace } from '../panes/panes.ts';

interface PlaceLinkProps {
  place: Place;
  isOpen: boolean;
  /** Drawn softly: one cannot write there. */
  isQuiet: boolean;
  unread: number;
  mentions: number;
  icon: ReactNode;
  name: string;
  /** A word after the name, such as "archived". */
  note?: string;
}

/** One conversation in the sidebar; bold while something in it is unread, with a number for what is for this person. */
export function PlaceLink({ place, isOpen, isQuiet, unread, mentions, icon, name, note }: PlaceLinkProps) {
  const classes = ['place-link', unread > 0 && 'place-link-unread', isQuiet && 'place-link-quiet'];
  return (
    <RouteLink
      route={{ place }}
      className={classes.filter((name) => name !== false).join(' ')}
      aria-current={isOpen ? 'page' : undefined}
      onFollow={uncoverPlace}
    >
      <span className="place-link-icon" aria-hidden="true">
        {icon}
      </span>
      <span className="place-link-name">{name}</span>
      {note !== undefined && <span className="place-link-note">{note}</span>}
      {unread > 0 && <span className="visually-hidden">{`, ${unread} unread`}</span>}
      {mentions > 0 && (
        <span className="place-link-mentions">
          {mentions}
          <span className="visually-hidden"> for you</span>
        </span>
      )}
    </RouteLink>
  );
}
