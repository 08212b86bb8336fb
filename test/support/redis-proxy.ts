import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between clients and Redis, and can be slow or lose replies: Redis has run the script, and the client never hears. */
export interface RedisProxy {
  readonly url: string;
  /** The number of lost replies. */
  readonly lost: number;
  /** The beginning of the last reply that was lost. */
  readonly lastLost: string;
  /** Loses the replies to the next scripts, or to those after some more, each with its connection. */
  cutNext(which?: { readonly count?: number; readonly after?: number }): void;
  /** From now on every reply comes so much later. */
  slowDown(milliseconds: number): void;
  stop(): Promise<void>;
}

/** Starts a proxy in front of the Redis at the URL; which reply is lost is sure where a connection has one script under way at a time. */
export async function startRedisProxy(redisUrl: string): Promise<RedisProxy> {
  const target = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let toPass = 0;
  let toCut = 0;
  let lost = 0;
  let lastLost = '';

  /** Whether the reply to a script that has just come is one to lose. */
  const takesNext = (): boolean => {
    if (toCut === 0) return false;
    if (toPass > 0) {
      toPass -= 1;
      return false;
    }
    toCut -= 1;
    return true;
  };

  const server = createServer((client) => {
    const redis = connect(Number(target.port), target.hostname);
    const passOn = passingLate(client);
    let awaitsScript = false;
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
      awaitsScript ||= /evalsha/i.test(chunk.subarray(0, 64).toString('latin1'));
      redis.write(chunk);
    });
    redis.on('data', (chunk) => {
      const answersScript = awaitsScript;
      awaitsScript = false;
      if (!(answersScript && takesNext())) {
        passOn(chunk, delayMs);
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
    cutNext({ count = 1, after = 0 } = {}) {
      toPass = after;
      toCut = count;
    },
    slowDown(milliseconds) {
      delayMs = milliseconds;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Writes to a socket some time later, one after the other, so that bytes keep their order also when the slowness ends. */
function passingLate(client: Socket): (chunk: Buffer, delayMs: number) => void {
  const late: { readonly chunk: Buffer; readonly dueAt: number }[] = [];
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
  return (chunk, delayMs) => {
    late.push({ chunk, dueAt: Date.now() + delayMs });
    if (late.length === 1) pass();
  };
}
