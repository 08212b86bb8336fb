import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** What went through: commands as the client sent them, how often it had to wait for an answer, and bytes to Redis. */
export interface Traffic {
  readonly commands: number;
  readonly roundTrips: number;
  readonly bytes: number;
}

export interface CountingProxy {
  readonly url: string;
  /** What went through since it was last asked. */
  take(): Traffic;
  stop(): Promise<void>;
}

/** Stands before Redis and counts; it is true for one client that does one thing after the other. */
export async function startCountingProxy(redisUrl: string): Promise<CountingProxy> {
  const target = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let traffic = { commands: 0, roundTrips: 0, bytes: 0 };
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
        // The texts of the bench hold no such line.
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
    client.on('end', () => redis.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    take() {
      const taken = traffic;
      traffic = { commands: 0, roundTrips: 0, bytes: 0 };
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
