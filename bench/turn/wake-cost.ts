import { setTimeout as sleep } from 'node:timers/promises';
import { openEngine } from '../../src/store/queue/engine.ts';
import { startCountingProxy, type Traffic } from './counting-proxy.ts';

const QUIET_MS = 1_000;
const WAKE_UPS = 20;

/**
 * Measures what BullMQ sends to Redis for one job, from the wake-up to the end of the work, without its idle traffic. A process runs most
 * of its wake-ups itself; an engine that runs no handlers hands all of them over.
 */
export async function measureWakeUp(redisUrl: string): Promise<Pick<Traffic, 'commands' | 'bytes'>> {
  const proxy = await startCountingProxy(redisUrl);
  let done = 0;
  const open = () =>
    openEngine({
      settings: { mode: 'single', urls: [proxy.url] },
      store: { due: async () => ({ threads: [], runs: [], timers: [], hasOutbox: false }) },
      log: { warn: () => {} },
      prefix: 'bench:',
    });
  const [engine, waking] = [open(), open()];
  const counted = async (): Promise<void> => {
    done += 1;
  };
  await engine.start({ thread: counted, run: counted, outbox: counted, timer: counted });
  try {
    await sleep(QUIET_MS);
    proxy.take();
    await sleep(QUIET_MS);
    const idle = proxy.take();
    const began = performance.now();
    for (let woken = 1; woken <= WAKE_UPS; woken += 1) {
      waking.wake({ kind: 'thread', threadId: `C1:${woken}` });
      while (done < woken) await sleep(1);
    }
    const { commands, bytes } = proxy.take();
    const quiet = (performance.now() - began) / QUIET_MS;
    return {
      commands: (commands - idle.commands * quiet) / WAKE_UPS,
      bytes: (bytes - idle.bytes * quiet) / WAKE_UPS,
    };
  } finally {
    await Promise.all([engine.stop(), waking.stop()]);
    await proxy.stop();
  }
}
