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
  /** What went through since it was last asked, without what was apart. */
  take(): Traffic;
  /** The same of the connections that are counted apart; round trips are not told of them, since they wait most of the time. */
  takeApart(): Omit<Traffic, 'roundTrips'>;
  stop(): Promise<void>;
}

/**
 * Stands before Redis and counts; it is true for one client that does one thing after the other. A connection on which
 * the words `apart` were once seen is counted by itself.
 */
export async function startCountingProxy(redisUrl: string, apart?: string): Promise<CountingProxy> {
  const target = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let traffic = { commands: 0, roundTrips: 0, bytes: 0 };
  let trafficApart = { commands: 0, bytes: 0 };
  let isAnswered = true;

  const server = createServer((client) => {
    const redis = connect(Number(target.port), target.hostname);
    for (const socket of [client, redis]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    let isApart = false;
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      // The texts of the bench hold no such line.
      const sent = text.match(/\*\d+\r\n\$/g)?.length ?? 0;
      isApart ||= apart !== undefined && text.includes(apart);
      if (isApart) {
        const { commands, bytes } = trafficApart;
        trafficApart = { commands: commands + sent, bytes: bytes + chunk.length };
      } else {
        const { commands, roundTrips, bytes } = traffic;
        traffic = {
          commands: commands + sent,
          roundTrips: roundTrips + (isAnswered ? 1 : 0),
          bytes: bytes + chunk.length,
        };
        isAnswered = false;
      }
      redis.write(chunk);
    });
    redis.on('data', (chunk) => {
      isAnswered ||= !isApart;
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
    takeApart() {
      const taken = trafficApart;
      trafficApart = { commands: 0, bytes: 0 };
      return taken;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
