import { askRedis } from './ask-redis.ts';

/** Tells whether the server at the URL keeps its data in that folder; false also where nothing answers. */
export async function servesFolder(url: string, dataFolder: string): Promise<boolean> {
  try {
    const reply = await askRedis(url, (client) => client.call('CONFIG', 'GET', 'dir'));
    return Array.isArray(reply) && reply[1] === dataFolder;
  } catch {
    return false;
  }
}
