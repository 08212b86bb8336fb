import type { PageDeclaration } from '../tools/manifest/manifest.ts';

/** The start of the page's addresses. */
export const ROOT = '/page/';

export interface PageLinks {
  /** Returns the address of a request on the page; `undefined` if there is no page. */
  linkTo(requestId: string): string | undefined;
  /** Returns the address where a person signs by a one-time link, or keeps their passkeys; `undefined` if there is no page. */
  passkeyLink(nonce?: string): string | undefined;
}

/** Makes the addresses of the page that the active manifest has. */
export function pageLinks(publicUrl: string, page: () => PageDeclaration | undefined): PageLinks {
  const base = publicUrl.replace(/\/$/, '');
  return {
    linkTo: (requestId) =>
      page() === undefined ? undefined : `${base}${ROOT}requests/${encodeURIComponent(requestId)}`,
    passkeyLink: (nonce) =>
      page() === undefined
        ? undefined
        : `${base}${ROOT}${nonce === undefined ? 'passkeys' : `approve/${nonce}`}`,
  };
}
