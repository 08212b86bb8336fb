import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Slack and its retries, callbacks, probes and scrapes need a handful; a flood must not take all file descriptors. */
const MOST_CONNECTIONS = 1_000;

/**
 * Keeps the number of connections below a limit. Beyond it the oldest one that has no whole request is closed, so that idle
 * connections and half requests keep nobody out.
 */
export class Connections {
  /** The requests of each connection that are not answered, oldest connection first. */
  readonly #open = new Map<Socket, Set<IncomingMessage>>();

  add(socket: Socket): void {
    if (this.#open.size >= MOST_CONNECTIONS) (this.#oldestIdle() ?? socket).destroy();
    if (socket.destroyed) return;
    this.#open.set(socket, new Set());
    socket.once('close', () => this.#open.delete(socket));
  }

  serve(request: IncomingMessage, response: ServerResponse): void {
    const requests = this.#open.get(request.socket);
    requests?.add(request);
    response.once('close', () => requests?.delete(request));
  }

  #oldestIdle(): Socket | undefined {
    for (const [socket, requests] of this.#open)
      if (![...requests].some(({ complete }) => complete)) {
        this.#open.delete(socket);
        return socket;
      }
    return undefined;
  }
}
