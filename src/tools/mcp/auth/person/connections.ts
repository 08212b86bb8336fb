import type { Fetch } from '../../mcp-config.ts';
import type { Challenge, Identity, RequesterAuth } from '../auth-config.ts';
import { AuthorizationError } from '../authorization-error.ts';

/** A server whose calls run in the name of their requesters. */
export interface RequesterServer {
  /** The name of its entry in the manifest. */
  readonly name: string;
  readonly url: string;
  readonly auth: RequesterAuth;
  /** Reaches only addresses that the manifest allows. */
  readonly fetch: Fetch;
}

/** The accounts that people have connected. Each method throws an `AuthorizationError` if there is no token to be had. */
export interface Connections {
  isConnected(server: RequesterServer, person: string): Promise<boolean>;
  /** Returns a token of the person, renewed before it ends. */
  token(server: RequesterServer, person: string): Promise<string>;
  /** Returns another token than the refused one; the person has to connect again if there is none. */
  renew(server: RequesterServer, person: string, refused: string | undefined): Promise<string>;
  /** Notes that a call needs more scope, for which the person has to connect again. */
  widen(server: RequesterServer, person: string, challenge: Challenge): Promise<never>;
  /** Returns the person who connected the server, if anyone did; their token lists its tools. */
  someone(server: RequesterServer): Promise<string | undefined>;
}

/** Creates the identity of one person at a server. */
export function personIdentity(connections: Connections, server: RequesterServer, person: string): Identity {
  return {
    token: () => connections.token(server, person),
    renew: (refused) => connections.renew(server, person, refused),
    widen: (_refused, challenge) => connections.widen(server, person, challenge),
  };
}

/**
 * Creates the identity that lists the tools of a server: nobody, as long as the server lists them for anyone, and after a 401 a person who
 * has connected. It calls no tool.
 */
export function listerIdentity(connections: Connections, server: RequesterServer): Identity {
  let person: string | undefined;
  const find = async (): Promise<string> => {
    person = await connections.someone(server);
    if (person !== undefined) return person;
    throw new AuthorizationError(
      'nobody has connected an account yet; open the Home tab of the bot and choose Connect',
    );
  };
  return {
    async token() {
      if (person === undefined) return undefined;
      const known = person;
      return connections.token(server, known).catch(async (error: unknown) => {
        const other = await find();
        if (other === known) throw error;
        return connections.token(server, other);
      });
    },
    async renew(refused) {
      const found = await find();
      return refused === undefined
        ? connections.token(server, found)
        : connections.renew(server, found, refused);
    },
    async widen(_refused, challenge) {
      return connections.widen(server, await find(), challenge);
    },
  };
}
