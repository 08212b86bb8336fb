import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Commands as the client sent them, how often it had to wait for an answer, and the bytes it sent. */
export interface Traffic {
  readonly commands: number;
  readonly roundTrips: number;
  readonly bytes: number;
}

export interface CountingProxy {
  readonly url: string;
  /** Returns what went through since the last call. Round trips are exact for a client that does one thing after another. */
  take(): Traffic;
  stop(): Promise<void>;
}

const NOTHING: Traffic = { commands: 0, roundTrips: 0, bytes: 0 };

/** Starts a proxy in front of Redis that counts what clients send. */
export async function startCountingProxy(redisUrl: string): Promise<CountingProxy> {
  const target = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let traffic = NOTHING;
  let isAnswered = true;

  const server = createServer((client) => {
    const redis = connect(Number(target.port), target.hostname);
    for (const socket of [client, redis]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk) => {
      const { commands, roundTrips, bytes } = traffic;
      traffic = {
        // No text of the bench contains a line like the start of a command.
        commands: commands + (chunk.toString('latin1').match(/\*\d+\r\n\$/g)?.length ?? 0),
        roundTrips: roundTrips + (isAnswered ? 1 : 0),
        bytes: bytes + chunk.length,
      };
      isAnswered = false;
      redis.write(chunk);
    });
    redis.on('data', (chunk) => {
      isAnswered = true;
      client.write(chunk);
    });
    client.on('close', () => redis.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    take() {
      const taken = traffic;
      traffic = NOTHING;
      isAnswered = true;
      return taken;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
