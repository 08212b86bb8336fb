import type { JsonObject } from '../../agent/json.ts';
import type { ToolHelpers } from '../../agent/tool.ts';
import { McpServerError } from '../errors.ts';
import { callerOf } from './auth/ask-for-consent.ts';
import type { Identity } from './auth/auth-config.ts';
import { buildTools, type ListedTool } from './build-tools.ts';
import type { Fetch, McpConfig } from './mcp-config.ts';
import { openSession } from './open-session.ts';

export interface PersonSetup {
  readonly name: string;
  readonly guardedFetch: Fetch | undefined;
  readonly identityOf: (person: string) => Identity;
}

export interface PersonCall {
  readonly called: ListedTool;
  readonly input: JsonObject;
  readonly helpers: ToolHelpers;
}

/**
 * Makes one call in the name of its requester, over a connection of its own: a session belongs to one person, and after a disconnect none is
 * left. The call is made only if the server offers this person the tool that was approved.
 */
export async function callAsPerson(
  config: McpConfig,
  { name, guardedFetch, identityOf }: PersonSetup,
  { called, input, helpers }: PersonCall,
): Promise<unknown> {
  const person = callerOf(helpers.context);
  const refuse = (reason: string, cause?: unknown) =>
    new McpServerError(
      'refused',
      name,
      `"${called.name}" of the MCP server "${name}" was not run: ${reason}`,
      { cause },
    );
  if (person === undefined) throw refuse('nobody asked for it');
  const session = await openSession(config, {
    name,
    guardedFetch,
    identity: identityOf(person),
    isKnownLegacy: false,
    signal: helpers.signal,
    onRelisted: () => {},
  }).catch((error: unknown) => {
    helpers.signal.throwIfAborted();
    throw refuse(error instanceof Error ? error.message : String(error), error);
  });
  try {
    const { digests } = buildTools(session.list, '', async () => undefined);
    if (digests.get(called.name) !== called.digest)
      throw refuse('the server offers the requester another tool');
    return await session.call(called, input, helpers);
  } finally {
    await session.close();
  }
}
