import type { z } from 'zod';
import type { Triggers } from '../people/triggers.ts';
import type { JsonObject } from '../state/types.ts';
import type { WorkspaceState } from '../state/workspace-state.ts';

export type TokenKind = 'bot' | 'app';

/** Context of a method besides its arguments. */
export interface MethodContext {
  state: WorkspaceState;
  triggers: Triggers;
  token: TokenKind;
  /** A new address for one Socket Mode connection. */
  openSocketUrl: () => string;
}

/** One method of the Web API: which tokens may call it and what it answers. */
export interface Method {
  tokens: readonly TokenKind[];
  /** Throws a `ZodError` for arguments that do not fit and a `Refusal` for what Slack refuses. */
  run: (given: JsonObject, context: MethodContext) => JsonObject;
}

/** Ties the type of the arguments to the function that takes them. */
export function defineMethod<Schema extends z.ZodType>(
  schema: Schema,
  run: (parsed: z.output<Schema>, context: MethodContext) => JsonObject,
  tokens: readonly TokenKind[] = ['bot'],
): Method {
  return { tokens, run: (given, context) => run(schema.parse(given), context) };
}
