import { z } from 'zod';
import { Text, WebAddress } from './values.ts';

export const AuthFile = z
  .strictObject({
    as: z
      .enum(['bot', 'requester'])
      .describe(
        'In whose name calls run: bot (one identity for all) or requester (each person connects their own account).',
      ),
    token: Text.optional().describe('For bot: a bearer token, from the environment.'),
    client_id: Text.optional().describe(
      "The bot's client at the authorization server (default, only for requester: the address of the bot's client metadata document).",
    ),
    client_secret: Text.optional().describe("The client's secret, from the environment."),
    private_key: Text.optional().describe(
      "The client's private key as PEM (PKCS #8), from the environment, in place of a secret.",
    ),
    algorithm: z
      .enum(['RS256', 'PS256', 'ES256', 'EdDSA'])
      .optional()
      .describe('How the private key signs (default: RS256).'),
    issuer: WebAddress.optional().describe(
      'The authorization server that knows the client; no other gets its credentials.',
    ),
    scope: Text.optional().describe(
      'The scopes to request, separated by spaces (default: those the server asks for).',
    ),
  })
  .describe('How the bot proves who it is to a remote server (OAuth 2.1).');
export type AuthFile = z.output<typeof AuthFile>;
