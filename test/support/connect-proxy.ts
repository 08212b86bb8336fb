import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ProxySettings } from '../../src/tools/http/proxy.ts';

export interface ConnectProxy {
  readonly port: number;
  /** The settings that send everything through this proxy. */
  readonly settings: ProxySettings;
  /** The hosts and ports that it was asked to connect to, in order. */
  readonly targets: readonly string[];
  /** The ports of this machine that were connected to around the proxy since it was started. */
  around(): number[];
}

/** Starts a proxy that leads every host name to this machine, so that a name nobody can resolve is reached only through it. */
export async function startConnectProxy(): Promise<ConnectProxy> {
  const targets: string[] = [];
  const own = new Set<Socket>();
  const opened = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', (request, client: Socket) => {
    targets.push(request.url ?? '');
    const upstream = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    own.add(upstream);
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
    client.on('close', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ports = new Map<Socket, number>();
  const onSocket = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    opened.add(socket);
    socket.once('connect', () => ports.set(socket, socket.remotePort ?? 0));
  };
  diagnostics.subscribe('net.client.socket', onSocket);
  onTestFinished(() => {
    diagnostics.unsubscribe('net.client.socket', onSocket);
    for (const socket of own) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    settings: { httpProxy: url, httpsProxy: url, noProxy: '' },
    targets,
    around: () =>
      [...opened]
        .filter((socket) => !own.has(socket))
        .flatMap((socket) => ports.get(socket) ?? [])
        .filter((reached) => reached !== port),
  };
}
