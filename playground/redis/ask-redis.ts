import { Redis } from 'ioredis';

const TIMEOUT_MS = 5000;

/** Opens one connection for one query and closes it; nothing is retried, and a server that does not answer is an error. */
export async function askRedis<Answer>(
  url: string,
  ask: (client: Redis) => Promise<Answer>,
): Promise<Answer> {
  const client = new Redis(url, {
    lazyConnect: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    // ioredis keeps this timer even for a connection that is already closed, and the process alive with it.
    disconnectTimeout: 100,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    retryStrategy: () => null,
  });
  let connectionError: Error | undefined;
  client.on('error', (error: Error) => {
    connectionError = error;
  });
  try {
    await client.connect();
    return await ask(client);
  } catch (error) {
    // ioredis rejects with "Connection is closed." and reports the reason only in the event.
    throw connectionError ?? error;
  } finally {
    client.disconnect();
  }
}

/** True when the server at the URL keeps its data in that folder; false when nothing answers. */
export async function servesFolder(url: string, dataFolder: string): Promise<boolean> {
  try {
    const reply = await askRedis(url, (client) => client.call('CONFIG', 'GET', 'dir'));
    return Array.isArray(reply) && reply[1] === dataFolder;
  } catch {
    return false;
  }
}
