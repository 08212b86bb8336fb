import { lookup as lookupAddresses } from 'node:dns/promises';
import {
  isIP,
  type LookupFunction,
  connect as openConnection,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';
import { buildConnector } from 'undici';
import { AgentError } from '../../../agent/errors.ts';
import { HttpError } from '../../errors.ts';
import type { AllowedHosts, Target } from './allowed-hosts.ts';

/** Resolves a host name to all its addresses. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export interface ConnectorOptions {
  readonly hosts: AllowedHosts;
  readonly lookup?: Lookup | undefined;
  /** Opens the TCP connection; tests replace it. */
  readonly open?: (options: TcpNetConnectOpts) => Socket;
}

const CONNECT_MS = 10_000;

/**
 * Connects only to allowed hosts: a name is resolved once, every address is checked, the connection can only use those addresses,
 * and its remote address is checked before the first byte is sent.
 */
export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { hosts, lookup = systemLookup, open = openConnection } = options;
  const startTls = buildConnector({ timeout: CONNECT_MS });

  return (request, callback) => {
    const target = targetOf(request);
    try {
      hosts.checkName(target);
    } catch (error) {
      callback(asError(error), null);
      return;
    }
    const socket = open({
      ...target,
      lookup: pinnedLookup(hosts, target, lookup),
      noDelay: true,
      keepAlive: true,
    });
    const timer = setTimeout(() => socket.destroy(unreachable(target, { code: 'ETIMEDOUT' })), CONNECT_MS);
    const fail = (error: Error) => {
      clearTimeout(timer);
      callback(unreachable(target, error), null);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      try {
        hosts.checkAddress(target, socket.remoteAddress ?? '');
      } catch (error) {
        // An unhandled error of the abandoned socket would end the process.
        socket.on('error', () => undefined).destroy();
        callback(asError(error), null);
        return;
      }
      if (request.protocol !== 'https:') callback(null, socket);
      else {
        startTls({ ...request, httpSocket: socket }, (...[error, secured]) => {
          if (error === null) callback(null, secured);
          else callback(unreachable(target, error), null);
        });
      }
    });
  };
}

/** Describes a failed connection by its code only: the error's own message may hold the address. */
function unreachable({ host }: Target, error: object): AgentError {
  if (error instanceof AgentError) return error;
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return new HttpError('unreachable', `The host "${host}" could not be reached${code}; nothing was sent.`, {
    cause: error,
  });
}

/** Reads the host and the port of an address or of a connection to it. */
export function targetOf({
  hostname,
  port,
  protocol,
}: Pick<buildConnector.Options, 'hostname' | 'port' | 'protocol'>): Target {
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return { host: hostname, port: port === '' ? defaultPort : Number(port) };
}

function pinnedLookup(hosts: AllowedHosts, target: Target, lookup: Lookup): LookupFunction {
  return (hostname, { all }, callback) => {
    const resolve = async () => {
      const answers = await lookup(hostname);
      if (answers.length === 0)
        throw new HttpError('unreachable', `The host "${target.host}" has no address; nothing was sent.`);
      for (const answer of answers) hosts.checkAddress(target, answer);
      return answers.map((address) => ({ address, family: isIP(address) }));
    };
    resolve().then(
      (answers) => {
        const [first] = answers;
        if (all === true || first === undefined) callback(null, answers);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(asError(error), []),
    );
  };
}

async function systemLookup(hostname: string): Promise<readonly string[]> {
  const answers = await lookupAddresses(hostname, { all: true });
  return answers.map(({ address }) => address);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
