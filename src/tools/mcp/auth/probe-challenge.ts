import type { Fetch } from '../mcp-config.ts';
import type { Challenge } from './auth-config.ts';
import { challengeIn } from './authorized-fetch.ts';

const REQUEST: RequestInit = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
};

/** Asks a server without a token, to learn where its metadata is and which scope it wants; empty if it does not say. */
export async function probeChallenge(url: string, fetch: Fetch): Promise<Challenge> {
  const response = await fetch(url, REQUEST).catch(() => undefined);
  return response?.status === 401 ? challengeIn(response) : {};
}
