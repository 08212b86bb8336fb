import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { thisMachine } from '../../../playground/install/machine.ts';
import { askRedis } from '../../../playground/redis/ask-redis.ts';
import { findFreePort } from '../../../playground/redis/find-free-port.ts';
import { obtainServer } from '../../../playground/redis/obtain-server.ts';

/** A server that can be killed and comes back at the same place with what it had acknowledged. */
export interface OwnRedis {
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Starts a server that writes each change to its log before it answers: a process that is killed loses nothing of it. */
export async function startOwnRedis(folder: string): Promise<OwnRedis> {
  const server = await obtainServer(process.env, thisMachine(), () => {});
  const port = await findFreePort();
  const url = `redis://127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true });
  let child: ChildProcess | undefined;
  const killAtExit = () => child?.kill('SIGKILL');

  const redis: OwnRedis = {
    url,
    async start() {
      // What is dumped to be searched must not be compressed. Without fsync, since it is the process that dies and not the machine.
      const options = ['--appendonly', 'yes', '--appendfsync', 'no', '--save', '', '--rdbcompression', 'no'];
      const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
      process.once('exit', killAtExit);
      child = spawn(server, [...place, ...options, '--enable-debug-command', 'local'], { stdio: 'ignore' });
      for (let tries = 0; ; tries += 1) {
        const isUp = await askRedis(url, (client) => client.ping()).then(
          () => true,
          () => false,
        );
        if (isUp) return;
        if (tries > 300) throw new Error('Redis did not come up for the faults');
        await sleep(20);
      }
    },
    async kill() {
      const dying = child;
      if (dying === undefined || dying.exitCode !== null) return;
      dying.kill('SIGKILL');
      await once(dying, 'exit');
      process.off('exit', killAtExit);
    },
  };
  await redis.start();
  return redis;
}
