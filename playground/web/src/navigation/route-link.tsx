import type { AnchorHTMLAttributes } from 'react';
import { hrefOf, navigate, type Route } from './routes.ts';

interface RouteLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'onClick'> {
  route: Partial<Route>;
  /** Called after the route was followed in this window. */
  onFollow?: () => void;
}

/** A link to another route, followed without loading the page; with a modifier key it is an ordinary link. */
export function RouteLink({ route, onFollow, children, ...rest }: RouteLinkProps) {
  return (
    <a
      {...rest}
      href={hrefOf(route)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(route);
        onFollow?.();
      }}
    >
      {children}
    </a>
  );
}
