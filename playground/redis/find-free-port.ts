import { createServer } from 'node:net';

/** Finds a port that is free on the loopback address now; it may be taken a moment later, so its user must be ready to retry. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('The system named no free port on 127.0.0.1.'));
      });
    });
  });
}
