import type { Identity } from './auth-config.ts';
import { AuthorizationError } from './authorization-error.ts';
import type { Connections, RequesterServer } from './connections.ts';

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
