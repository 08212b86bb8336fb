import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RecordingServer {
  readonly port: number;
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  /** The number of opened connections, used or not. */
  readonly connections: number;
  readonly requests: readonly RecordedRequest[];
  stop(): Promise<void>;
}

type Respond = (response: ServerResponse, request: RecordedRequest) => void;

/** Starts a server on every local address, so that whatever leads to this machine is seen by it. */
export async function startRecordingServer(
  respond: Respond = (response) => response.end('reached'),
): Promise<RecordingServer> {
  const requests: RecordedRequest[] = [];
  let connections = 0;
  const server = createServer(async (incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const request = { method, path: url, headers, body: await text(incoming) };
    requests.push(request);
    respond(response, request);
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
