import { guardedFetch } from '../../http/guard/guarded-fetch.ts';
import type { ProxySettings } from '../../http/proxy.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { authFetch } from './auth-fetch.ts';
import type { RequesterServer } from './connections.ts';

/** Lists the servers of a manifest whose calls run in the name of their requesters, without opening them. */
export function requesterServersOf(
  { tools }: Pick<Manifest, 'tools'>,
  proxy?: ProxySettings | undefined,
): RequesterServer[] {
  return tools.flatMap((declaration) => {
    if (declaration.kind !== 'mcp' || declaration.config.transport !== 'http') return [];
    const { name, config, allowPrivate } = declaration;
    const { url, auth } = config;
    if (auth?.as !== 'requester') return [];
    return [{ name, url, auth, fetch: authFetch(guardedFetch({ allowPrivate, proxy })) }];
  });
}
