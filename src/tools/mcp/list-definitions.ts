import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';

// Each tool is parsed by itself later: one odd tool must not cost all the others.
const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const MOST_TOOLS = 1000;

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
    if (cursor !== undefined && seen.has(cursor)) throw new Error('its list of tools has no end');
    if (definitions.length > MOST_TOOLS) throw new Error(`it lists more than ${MOST_TOOLS} tools`);
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
  return definitions;
}
