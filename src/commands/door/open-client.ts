import { z } from 'zod';
import { CountersignClient } from '../../client/client.ts';
import { UnreachableError } from '../../client/errors.ts';
import { UsageError } from '../shared/command.ts';

const ANSWER_MS = 15_000;
const IssuedToken = z.looseObject({ value: z.string().min(1) });

export const DOOR_HELP = `Environment:
  COUNTERSIGN_URL       where the bot is reached, such as https://countersign.example.com
  COUNTERSIGN_KEY       the key of the caller; without it a job of GitHub Actions gets its own tokens
  COUNTERSIGN_AUDIENCE  the audience of those tokens (default: countersign)
`;

/** Opens the client of the caller that the environment names. */
export function openClient(environment: NodeJS.ProcessEnv): CountersignClient {
  const { COUNTERSIGN_URL: url = '' } = environment;
  if (!URL.canParse(url)) throw new UsageError('COUNTERSIGN_URL is not set to the address of the bot');
  try {
    return new CountersignClient({ url, key: () => keyOf(environment) });
  } catch (cause) {
    throw new UsageError('COUNTERSIGN_URL needs https: the key would travel in clear text', { cause });
  }
}

/** Returns the key, or a new token of the CI job: each token is for one change. */
async function keyOf({
  COUNTERSIGN_KEY: key,
  COUNTERSIGN_AUDIENCE: audience = 'countersign',
  ACTIONS_ID_TOKEN_REQUEST_URL: url = '',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: token = '',
}: NodeJS.ProcessEnv): Promise<string> {
  if (key !== undefined && key !== '') return key;
  if (!URL.canParse(url) || token === '')
    throw new UsageError(
      'set COUNTERSIGN_KEY, or give the job of GitHub Actions "permissions: id-token: write"',
    );
  const address = new URL(url);
  address.searchParams.set('audience', audience);
  try {
    const response = await fetch(address, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return IssuedToken.parse(await response.json()).value;
  } catch (cause) {
    throw new UnreachableError('GitHub has issued no token', { cause });
  }
}
