import type { MouseEvent, ReactNode } from 'react';
import { useWorkspace } from '../../client/store.ts';
import { hrefOf, navigate, routeOf } from '../../navigation/routes.ts';
import { resolveLink } from './resolve-link.ts';

interface PageLinkProps {
  readonly url: string;
  readonly className?: string;
  readonly label?: string;
  readonly onFollow?: () => void;
  readonly children: ReactNode;
}

/** A link: within the page for a message of this workspace, in a new tab for the web, and plain text for an unsafe address. */
export function PageLink({ url, className = 'prose-link', label, onFollow, children }: PageLinkProps) {
  const target = resolveLink(url, useWorkspace().team.domain);
  if (target.kind === 'none') return <span title={url}>{children}</span>;
  if (target.kind === 'outside') {
    return (
      <a
        className={className}
        href={target.href}
        target="_blank"
        rel="noopener noreferrer"
        aria-label={label}
        onClick={onFollow}
      >
        {children}
      </a>
    );
  }
  const { screen } = routeOf(target.url);
  const follow = (event: MouseEvent) => {
    onFollow?.();
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate({ screen });
  };
  return (
    <a className={className} href={hrefOf({ screen })} aria-label={label} onClick={follow}>
      {children}
    </a>
  );
}

/** Returns a function that opens an address as its link would; an unsafe one is ignored. */
export function useOpenLink(): (address: string) => void {
  const { team } = useWorkspace();
  return (address) => {
    const target = resolveLink(address, team.domain);
    if (target.kind === 'inside') navigate({ screen: routeOf(target.url).screen });
    if (target.kind === 'outside') window.open(target.href, '_blank', 'noopener,noreferrer');
  };
}
