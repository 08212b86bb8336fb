import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { makeId, makeSecret } from '../ids.ts';
import { LIMITS, type Timings } from '../limits.ts';
import type { JsonObject } from '../state/types.ts';

/** Reasons why Slack asks an app to leave a connection. */
export type DisconnectReason = 'refresh_requested' | 'warning';

interface Connection {
  id: string;
  socket: WebSocket;
  isDraining: boolean;
}

/** Open WebSockets of an app; each needs its own ticket, and a draining one gets no new deliveries. */
export class Connections {
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #open: Connection[] = [];
  readonly #tickets = new Map<string, number>();
  readonly #timings: Timings;
  readonly #appId: string;
  readonly #onMessage: (text: string) => void;
  readonly #onChange: () => void;
  readonly #ping: NodeJS.Timeout;
  #turn = 0;

  constructor(options: {
    timings: Timings;
    appId: string;
    onMessage: (text: string) => void;
    onChange: () => void;
  }) {
    this.#timings = options.timings;
    this.#appId = options.appId;
    this.#onMessage = options.onMessage;
    this.#onChange = options.onChange;
    this.#ping = setInterval(() => {
      for (const { socket } of this.#open) socket.ping();
    }, options.timings.socketPing);
  }

  get count(): number {
    return this.#open.length;
  }

  /** Returns a path with a ticket for one connection. */
  issuePath(): string {
    const ticket = makeSecret();
    this.#tickets.set(ticket, Date.now() + this.#timings.socketTicketLife);
    return `/link/?ticket=${ticket}&app_id=${this.#appId}`;
  }

  acceptFrom(server: Server): void {
    server.on('upgrade', (request, stream, head) => this.#upgrade(request, stream, head));
  }

  /** Sends to the next connection in turn; returns its id, or nothing when none is open. */
  send(message: JsonObject): string | undefined {
    const usable = this.#open.filter(
      ({ socket, isDraining }) => !isDraining && socket.readyState === socket.OPEN,
    );
    this.#turn += 1;
    const connection = usable[this.#turn % Math.max(usable.length, 1)];
    connection?.socket.send(JSON.stringify(message));
    return connection?.id;
  }

  /** Announces to the oldest connections, or to all, that Slack will close them. */
  disconnect(reason: DisconnectReason, count = this.#open.length): void {
    for (const connection of this.#open.slice(0, count)) {
      connection.socket.send(
        JSON.stringify({ type: 'disconnect', reason, debug_info: debugInfo(connection) }),
      );
      if (reason === 'warning') continue;
      connection.isDraining = true;
      setTimeout(() => connection.socket.close(), this.#timings.socketDrain).unref();
    }
  }

  /** Closes every connection, by force when the other side does not respond. */
  async stop(): Promise<void> {
    clearInterval(this.#ping);
    const closing = this.#open.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve)));
    for (const { socket } of this.#open) socket.close(1001);
    const force = setTimeout(() => {
      for (const { socket } of this.#open) socket.terminate();
    }, 500);
    await Promise.all(closing);
    clearTimeout(force);
    this.#server.close();
  }

  #upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const ticket = url.searchParams.get('ticket') ?? '';
    const expiresAt = this.#tickets.get(ticket) ?? 0;
    this.#tickets.delete(ticket);
    if (url.pathname !== '/link/' || Date.now() > expiresAt) {
      stream.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
      return;
    }
    this.#server.handleUpgrade(request, stream, head, (socket) => this.#add(socket));
  }

  #add(socket: WebSocket): void {
    const connection: Connection = { id: makeId('W'), socket, isDraining: false };
    socket.on('error', () => socket.terminate());
    if (this.#open.length >= LIMITS.socketConnections) {
      socket.send(
        JSON.stringify({
          type: 'disconnect',
          reason: 'too_many_websockets',
          debug_info: debugInfo(connection),
        }),
      );
      socket.close();
      return;
    }
    this.#open.push(connection);
    socket.on('message', (data) => this.#onMessage(String(data)));
    socket.on('close', () => {
      this.#open.splice(this.#open.indexOf(connection), 1);
      this.#onChange();
    });
    socket.send(
      JSON.stringify({
        type: 'hello',
        num_connections: this.#open.length,
        debug_info: { ...debugInfo(connection), build_number: 1, approximate_connection_time: 18_060 },
        connection_info: { app_id: this.#appId },
      }),
    );
    this.#onChange();
  }
}

function debugInfo(connection: Connection): JsonObject {
  return { host: `applink-${connection.id.toLowerCase()}` };
}
