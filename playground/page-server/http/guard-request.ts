import type { IncomingMessage } from 'node:http';
import { Refused } from './refused.ts';

const NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Refuses what does not come from the page itself. Any site can make a browser send requests to this machine; the name
 * it asked for and the origin it came from give such a request away, and a form cannot send JSON.
 */
export function guardRequest({ method, headers }: IncomingMessage, port: number): void {
  const hosts = NAMES.map((name) => new URL(`http://${name}:${port}`).host);
  if (!hosts.includes(headers.host?.toLowerCase() ?? '')) {
    throw new Refused(403, `This server answers only to http://${hosts[0]}, on this machine.`);
  }
  const { origin } = headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
    throw new Refused(403, `Another site, ${origin}, cannot act here; open http://${hosts[0]} itself.`);
  }
  if (method === 'POST' && headers['content-type']?.split(';')[0]?.trim() !== 'application/json') {
    throw new Refused(415, 'Only JSON is taken here; send it with the content type application/json.');
  }
}
