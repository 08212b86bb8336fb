import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { backOffMs } from '../../agent/util/back-off.ts';

// Each tool is parsed by itself later, so that one bad tool does not cost all the others.
const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const MAX_LISTED_TOOLS = 1000;

/** Lists all tools of a server, page by page, as the server sent them. */
export async function listDefinitions(client: Client, timeoutMs: number): Promise<readonly unknown[]> {
  const definitions: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, Page, { timeout: timeoutMs });
    definitions.push(...page.tools);
    cursor = page.nextCursor;
    if (cursor !== undefined && seen.has(cursor)) throw new Error('its tool list repeats without ending');
    if (definitions.length > MAX_LISTED_TOOLS)
      throw new Error(`it lists more than ${MAX_LISTED_TOOLS} tools`);
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
  return definitions;
}

const BACK_OFF = { firstMs: 1000, longestMs: 60_000 };

export interface ChangeListener {
  readonly timeoutMs: number;
  /** Ends the listening. */
  readonly signal: AbortSignal;
  /** Called whenever the subscription stands; changes before that were not announced. */
  readonly onOpen: () => void;
}

/**
 * Keeps a subscription to changes of the tools open until the signal fires. A server of the current protocol announces changes
 * only to a subscriber; one that refuses is asked again with growing waits, and its list is read before approved calls anyway.
 */
export async function listenForChanges(client: Client, listener: ChangeListener): Promise<void> {
  const { timeoutMs, signal, onOpen } = listener;
  if (client.getProtocolEra() !== 'modern') return;
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      const subscription = await client.listen({ toolsListChanged: true }, { timeout: timeoutMs });
      const since = Date.now();
      onOpen();
      await subscription.closed;
      if (Date.now() - since >= BACK_OFF.longestMs) failures = 0;
    } catch {
      // Refused or broken off; a connection that is lost ends the signal.
    }
    await sleep(backOffMs(Math.max(1, failures), BACK_OFF), undefined, { signal, ref: false }).catch(
      () => {},
    );
  }
}
