import { pino } from 'pino';
import { openAccounts } from '../../bot/connections/accounts.ts';
import { isPerson } from '../../store/record/keys.ts';
import { AuthorizationError } from '../../tools/mcp/auth/authorization-error.ts';
import type { Connections } from '../../tools/mcp/auth/person/connections.ts';
import { Sealer } from '../../tools/mcp/auth/person/seal.ts';
import type { Secrets } from '../../tools/secrets.ts';
import type { CommandContext } from './command.ts';
import { Failure, UsageError } from './errors.ts';
import { withRecord } from './open-record.ts';

/** Lends a command the accounts of one person, as they have connected them; those of nobody else. */
export function withConnectionsOf<Result>(
  person: string,
  context: CommandContext,
  secrets: Secrets,
  work: (connections: Connections) => Promise<Result>,
): Promise<Result> {
  if (!isPerson(person)) throw new UsageError(`--as needs the id of a person, but got "${person}"`);
  const { CONNECTIONS_KEY: key = '', PUBLIC_URL: publicUrl = 'http://localhost' } = context.environment;
  const sealer = Sealer.read(key);
  if (typeof sealer === 'string') throw new Failure(`CONNECTIONS_KEY ${sealer}`);
  return withRecord(context, ({ store }) => {
    const { connections } = openAccounts({
      ...{ store, sealer, publicUrl, secrets },
      logger: pino({ level: 'silent' }),
      findServer: () => undefined,
    });
    return work({
      isConnected: (server, who) => connections.isConnected(server, who),
      token: (server, who) => connections.token(server, who),
      renew: (server, who, refused) => connections.renew(server, who, refused),
      async widen(_server, _who, { scope = '' }) {
        throw new AuthorizationError(`the account of ${person} lacks the scope "${scope}"`);
      },
      async someone(server) {
        await connections.token(server, person).catch((error: unknown) => {
          if (!(error instanceof AuthorizationError && error.needsConsent)) throw error;
          throw new AuthorizationError(`${person} has not connected an account there`);
        });
        return person;
      },
    });
  });
}
