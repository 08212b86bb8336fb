import type { JsonObject } from '../../agent/json.ts';
import type { ToolHelpers } from '../../agent/tool.ts';
import { McpServerError } from '../errors.ts';
import type { Identity } from './auth/auth-config.ts';
import { callerOf } from './auth/person/ask-for-consent.ts';
import { buildTools, type ListedTool } from './build-tools.ts';
import type { Fetch, McpConfig } from './mcp-config.ts';
import { openSession } from './open-session.ts';
import { belongsToTask } from './tasks/follow-task.ts';

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
  const isFollowing = belongsToTask(helpers);
  const refuse = (reason: string, cause?: unknown) => {
    const subject = `"${called.name}" of the MCP server "${name}"`;
    const message = isFollowing
      ? `The task of ${subject} cannot be followed: ${reason}; it may or may not have taken effect.`
      : `${subject} was not run: ${reason}`;
    return new McpServerError(isFollowing ? 'lost' : 'refused', name, message, { cause });
  };
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
    if (!isFollowing && digests.get(called.name) !== called.digest)
      throw refuse('the server offers the requester another tool');
    return await session.call(called, input, helpers);
  } finally {
    await session.close();
  }
}
