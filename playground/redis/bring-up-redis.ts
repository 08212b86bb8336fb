import { type Machine, thisMachine } from '../install/machine.ts';
import { checkRedisUrl } from './check-redis-url.ts';
import { obtainServer } from './obtain-server.ts';
import { startServer } from './start-server.ts';

/** Options for Redis: `env` alone decides about REDIS_URL and the PATH, `machine` about what may be installed. */
export type BringUpRedisOptions = {
  dataFolder?: string;
  persistent?: boolean;
  log?: (line: string) => void;
  env?: NodeJS.ProcessEnv;
  machine?: Machine;
};

/** A Redis that answers; `stop` ends it only if it was started here. */
export type BroughtUpRedis = { url: string; stop(): Promise<void>; source: 'REDIS_URL' | 'started' };

/** Brings up a Redis that has answered a PING: the one REDIS_URL names, or a private one that never outlives this process. */
export async function bringUpRedis(options: BringUpRedisOptions): Promise<BroughtUpRedis> {
  const {
    dataFolder,
    persistent = false,
    log = () => {},
    env = process.env,
    machine = thisMachine(),
  } = options;
  const url = env.REDIS_URL;
  // An empty line REDIS_URL= in an environment file means "not set".
  if (url !== undefined && url !== '') {
    await checkRedisUrl(url);
    return { url, source: 'REDIS_URL', stop: async () => {} };
  }
  const server = await obtainServer(env, machine, log);
  const started = await startServer({ server, dataFolder, persistent, env });
  return { ...started, source: 'started' };
}
