import type { ReactNode } from 'react';
import { RouteLink } from '../navigation/route-link.tsx';
import type { Screen } from '../navigation/routes.ts';
import { showScreen } from '../panes/panes.ts';

interface ConversationLinkProps {
  screen: Screen;
  isOpen: boolean;
  /** Dimmed, because the person cannot write there. */
  isQuiet: boolean;
  unread: number;
  mentions: number;
  icon: ReactNode;
  name: string;
  /** A short note after the name, such as "archived". */
  note?: string;
}

/** One conversation in the sidebar; bold while unread, with the number of mentions. */
export function ConversationLink({
  screen,
  isOpen,
  isQuiet,
  unread,
  mentions,
  icon,
  name,
  note,
}: ConversationLinkProps) {
  const classes = [
    'conversation-link',
    unread > 0 && 'conversation-link-unread',
    isQuiet && 'conversation-link-quiet',
  ];
  return (
    <RouteLink
      route={{ screen }}
      className={classes.filter((name) => name !== false).join(' ')}
      aria-current={isOpen ? 'page' : undefined}
      onFollow={showScreen}
    >
      <span className="conversation-link-icon" aria-hidden="true">
        {icon}
      </span>
      <span className="conversation-link-name">{name}</span>
      {note !== undefined && <span className="conversation-link-note">{note}</span>}
      {unread > 0 && <span className="visually-hidden">{`, ${unread} unread`}</span>}
      {mentions > 0 && (
        <span className="conversation-link-mentions">
          {mentions}
          <span className="visually-hidden"> for you</span>
        </span>
      )}
    </RouteLink>
  );
}
