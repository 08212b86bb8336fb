import { type Dispatcher, EnvHttpProxyAgent } from 'undici';

/** The proxies of outgoing connections; an empty text means none. */
export interface ProxySettings {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  /** Hosts that are reached directly, as in `NO_PROXY`. */
  readonly noProxy: string;
}

const NO_PROXY_AT_ALL: ProxySettings = { httpProxy: '', httpsProxy: '', noProxy: '' };
/** A proxy cannot reach the loopback addresses of this machine. */
const LOOPBACK = 'localhost,127.0.0.1,[::1]';

/** Reads the proxies of the environment in either spelling; `undefined` if there are none. */
export function readProxy(environment: NodeJS.ProcessEnv): ProxySettings | undefined {
  const read = (name: string): string => environment[name.toLowerCase()] ?? environment[name] ?? '';
  const [httpProxy, httpsProxy, noProxy] = [read('HTTP_PROXY'), read('HTTPS_PROXY'), read('NO_PROXY')];
  if (httpProxy === '' && httpsProxy === '') return undefined;
  return { httpProxy, httpsProxy, noProxy: noProxy.trim() === '*' ? '*' : `${noProxy},${LOOPBACK}` };
}

/** Opens the connections of one client, through the proxies that the settings name. The process's own environment does not count. */
export function openDispatcher(
  proxy: ProxySettings | undefined,
  options: Omit<EnvHttpProxyAgent.Options, keyof ProxySettings> = {},
): Dispatcher {
  return new EnvHttpProxyAgent({ ...options, ...(proxy ?? NO_PROXY_AT_ALL) });
}

/** Makes a fetch that goes through the proxies and leaves time limits to its caller. */
export function proxiedFetch(proxy: ProxySettings | undefined): typeof fetch {
  const dispatcher = openDispatcher(proxy, { headersTimeout: 0, bodyTimeout: 0 });
  // Node's own types know another version of the dispatcher.
  return (input, init) => fetch(input, Object.assign({ ...init }, { dispatcher }));
}
