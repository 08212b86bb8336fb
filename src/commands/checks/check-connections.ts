import { readProxy } from '../../tools/http/proxy.ts';
import { probeChallenge } from '../../tools/mcp/auth/authorized-fetch.ts';
import { clientFor } from '../../tools/mcp/auth/client-for.ts';
import { discover } from '../../tools/mcp/auth/discover.ts';
import { requesterServersOf } from '../../tools/mcp/auth/person/create-identities.ts';
import { Sealer } from '../../tools/mcp/auth/person/seal.ts';
import { type Finding, failed, firstLineOf, ok, warning } from './finding.ts';
import type { LoadedManifest } from './manifest-view.ts';

/** Checks what people need to connect their accounts: the key, the address of the bot, and the metadata of each server. */
export async function checkConnections(
  environment: NodeJS.ProcessEnv,
  loaded: LoadedManifest | undefined,
): Promise<Finding[]> {
  const servers = loaded === undefined ? [] : requesterServersOf(loaded.manifest, readProxy(environment));
  if (servers.length === 0) return [];
  const { PUBLIC_URL: publicUrl = '' } = environment;
  const isSecure = publicUrl.startsWith('https://');
  const metadata = servers.map(async ({ name, url, auth, fetch }): Promise<Finding> => {
    const check = `accounts at ${name}`;
    try {
      const challenge = await probeChallenge(url, fetch);
      const { issuer, metadata: offered } = await discover(url, { challenge, issuer: auth.issuer, fetch });
      clientFor({ auth, clientMetadataUrl: isSecure ? publicUrl : undefined }, offered);
      if (offered.code_challenge_methods_supported?.includes('S256') !== true)
        return failed(check, `${issuer} does not offer PKCE with S256`);
      return ok(check, `people log in at ${issuer}`);
    } catch (error) {
      return failed(check, firstLineOf(error));
    }
  });
  return [checkKey(environment), checkAddress(publicUrl, isSecure), ...(await Promise.all(metadata))];
}

function checkKey({ CONNECTIONS_KEY: text = '' }: NodeJS.ProcessEnv): Finding {
  const check = 'connections key';
  const fix = 'make one with "openssl rand -base64 32" and set CONNECTIONS_KEY in .env';
  if (text === '')
    return failed(check, 'CONNECTIONS_KEY is not set, so nobody can connect an account', { fix });
  const sealer = Sealer.read(text);
  return typeof sealer === 'string'
    ? failed(check, `CONNECTIONS_KEY ${sealer}`, { fix })
    : ok(check, 'accounts are encrypted');
}

function checkAddress(publicUrl: string, isSecure: boolean): Finding {
  const check = 'connections address';
  if (publicUrl === '')
    return failed(check, 'PUBLIC_URL is not set, so browsers cannot come back', {
      fix: 'set PUBLIC_URL to the HTTPS address of the bot',
    });
  if (!isSecure) return warning(check, 'PUBLIC_URL is not HTTPS, so codes can be read on the way');
  return ok(check, `browsers come back to ${publicUrl}`);
}
