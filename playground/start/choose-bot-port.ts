import { createServer } from 'node:net';
import { findFreePort } from '../redis/find-free-port.ts';

/**
 * Chooses where the bot takes call-backs: the port after the page's, so that addresses handed out before hold after a restart,
 * or any free one where that is taken.
 */
export async function chooseBotPort(pagePort: number): Promise<number> {
  const next = pagePort + 1;
  return pagePort > 0 && next <= 65_535 && (await isFree(next)) ? next : await findFreePort();
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    // On every address, as the bot will.
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
}
