import { askRedis } from './ask-redis.ts';

/** Checks that the Redis named by REDIS_URL answers a PING; its error never shows the URL's credentials. */
export async function checkRedisUrl(url: string): Promise<void> {
  const host = hostOf(url);
  if (host === undefined) {
    throw new Error(
      'REDIS_URL is not a URL of the form redis://host:port or rediss://host:port; correct it or unset it.',
    );
  }
  try {
    await askRedis(url, (client) => client.ping());
  } catch (error) {
    throw new Error(
      `The Redis at ${host}, named by REDIS_URL, did not answer a PING (${shortReason(error)}); start it, correct REDIS_URL, or unset it to use a private server.`,
    );
  }
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, host } = new URL(url);
  return ['redis:', 'rediss:'].includes(protocol) && host !== '' ? host : undefined;
}

// Only the code or the first word (ECONNREFUSED, WRONGPASS): a server may echo the rest of what it was sent.
function shortReason(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason given';
  if ('code' in error && typeof error.code === 'string') return error.code;
  const word = /^[A-Z]{3,}(?=\s|$)/.exec(error.message)?.[0];
  if (word !== undefined) return word;
  return /timed out/i.test(error.message) ? 'timed out' : 'connection closed';
}
