import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between a client and Redis and loses replies on demand: Redis has run the script, and the client never hears. */
export interface CuttingProxy {
  readonly url: string;
  /** How many replies were lost. */
  readonly lost: number;
  /** The beginning of the last reply that was lost. */
  readonly lastLost: string;
  /** Loses the reply to the next script that is sent, or to one after it, and the connection with it. */
  cutNext(after?: number): void;
  stop(): Promise<void>;
}

/** Starts a proxy in front of the Redis at the URL; a client must send one script at a time while replies are lost. */
export async function startCuttingProxy(redisUrl: string): Promise<CuttingProxy> {
  const target = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let scriptsToCut: number | undefined;
  let lost = 0;
  let lastLost = '';

  const server = createServer((client) => {
    const redis = connect(Number(target.port), target.hostname);
    let isCutting = false;
    const end = () => {
      client.destroy();
      redis.destroy();
    };
    for (const socket of [client, redis]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (chunk) => {
      if (scriptsToCut !== undefined && /evalsha/i.test(chunk.subarray(0, 64).toString('latin1'))) {
        isCutting = scriptsToCut === 0;
        scriptsToCut = isCutting ? undefined : scriptsToCut - 1;
      }
      redis.write(chunk);
    });
    redis.on('data', (chunk) => {
      if (!isCutting) {
        client.write(chunk);
        return;
      }
      lost += 1;
      lastLost = chunk.subarray(0, 200).toString('utf8');
      end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    get lost() {
      return lost;
    },
    get lastLost() {
      return lastLost;
    },
    cutNext(after = 0) {
      scriptsToCut = after;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
