import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Ports below those that systems hand out by themselves, so that nobody takes one between this check and its use. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const MAX_TRIES = 50;

/** Finds a free port on this machine for a server that is about to start. */
export async function findFreePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) return port;
    if (tries === MAX_TRIES) throw new Error(`No free port found between ${FIRST_PORT} and ${LAST_PORT}`);
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    // On every address, as servers without a host listen.
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
}
