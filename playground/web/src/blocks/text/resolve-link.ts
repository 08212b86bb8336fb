/** Target of a link: a message of this workspace, an external page, or nothing safe. */
export type LinkTarget =
  | { readonly kind: 'inside'; readonly url: URL }
  | { readonly kind: 'outside'; readonly href: string }
  | { readonly kind: 'none' };

/** True for a web or mail address; nothing else, such as `javascript:`, ever becomes a link. */
export function isSafeUrl(url: string): boolean {
  return resolveLink(url, '').kind !== 'none';
}

/** Classifies the address of a link; a permalink of the workspace with this domain stays inside the page. */
export function resolveLink(address: string, domain: string): LinkTarget {
  if (!/^(https?:\/\/|mailto:)/i.test(address) || !URL.canParse(address)) return { kind: 'none' };
  const url = new URL(address);
  if (url.protocol === 'mailto:') return { kind: 'outside', href: url.href };
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { kind: 'none' };
  const isInside = domain !== '' && url.hostname === `${domain}.slack.com`;
  return isInside && url.pathname.startsWith('/archives/')
    ? { kind: 'inside', url }
    : { kind: 'outside', href: url.href };
}
