import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between the workers and Redis, and can be slow or lose what Redis answered. */
export interface RedisProxy {
  readonly url: string;
  /** From now on every answer comes so much later. */
  slowDown(milliseconds: number): void;
  /** Loses the next answers to scripts, each with its connection: Redis has done it, and nobody hears. */
  cutNext(count: number): void;
  readonly lost: number;
  stop(): Promise<void>;
}

export async function startRedisProxy(redisUrl: string): Promise<RedisProxy> {
  const target = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let toCut = 0;
  let lost = 0;

  const server = createServer((client) => {
    const redis = connect(Number(target.port), target.hostname);
    let isScript = false;
    const late: { readonly chunk: Buffer; readonly dueAt: number }[] = [];
    // One after the other, so that bytes keep their order also when the slowness ends.
    const pass = (): void => {
      for (let next = late[0]; next !== undefined; next = late[0]) {
        const wait = next.dueAt - Date.now();
        if (wait > 0) {
          setTimeout(pass, wait);
          return;
        }
        if (!client.destroyed) client.write(next.chunk);
        late.shift();
      }
    };
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
      isScript = /evalsha/i.test(chunk.subarray(0, 64).toString('latin1'));
      redis.write(chunk);
    });
    redis.on('data', (chunk) => {
      if (toCut > 0 && isScript) {
        toCut -= 1;
        lost += 1;
        end();
        return;
      }
      late.push({ chunk, dueAt: Date.now() + delayMs });
      if (late.length === 1) pass();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    slowDown: (milliseconds) => {
      delayMs = milliseconds;
    },
    cutNext: (count) => {
      toCut += count;
    },
    get lost() {
      return lost;
    },
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
