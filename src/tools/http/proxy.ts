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

/** Describes each proxy of the environment that is no address; its value may hold a password, so it is not repeated. */
export function proxyProblems(environment: NodeJS.ProcessEnv): string[] {
  return ['HTTP_PROXY', 'HTTPS_PROXY']
    .map((name) => (environment[name.toLowerCase()] === undefined ? name : name.toLowerCase()))
    .filter((name) => !isProxy(environment[name] ?? ''))
    .map(
      (name) =>
        `${name}: must be a URL such as http://proxy.corp:3128; encode special characters of a password`,
    );
}

function isProxy(address: string): boolean {
  try {
    openDispatcher({ httpProxy: address, httpsProxy: '', noProxy: '' });
    return true;
  } catch {
    return false;
  }
}

/** Reads the proxies of the environment in either spelling; `undefined` if there are none. One that is no address is an error. */
export function readProxy(environment: NodeJS.ProcessEnv): ProxySettings | undefined {
  const problems = proxyProblems(environment);
  if (problems.length > 0) throw new Error(problems.join(', '));
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
