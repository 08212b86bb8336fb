import { isJsonObject, type JsonObject } from '../../../agent/json.ts';
import type { Finding } from '../problem.ts';

const CLIENT_KEYS = ['client_id', 'client_secret', 'private_key', 'algorithm', 'issuer', 'scope'];

/** Finds mistakes between the values of a server's `auth`. */
export function checkAuth(pointer: string, server: JsonObject): Finding[] {
  const { auth, headers } = server;
  if (!isJsonObject(auth)) return [];
  const findings: Finding[] = [];
  const report = (key: string, message: string): void => {
    findings.push({ pointer: `${pointer}/auth${key}`, at: 'key', message });
  };
  const isHeaderSet =
    isJsonObject(headers) && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  if (isHeaderSet) report('', 'a server has an Authorization header or "auth", not both');
  const { token, client_id: id, client_secret: secret, private_key: key, algorithm, issuer } = auth;
  if (token !== undefined) {
    if (auth.as === 'requester')
      report('/token', 'a token is only for the bot; people connect their own accounts');
    for (const other of CLIENT_KEYS.filter((name) => auth[name] !== undefined))
      report(`/${other}`, `"${other}" can't be combined with "token"; remove one of them`);
    return findings;
  }
  const hasCredential = secret !== undefined || key !== undefined;
  if (secret !== undefined && key !== undefined)
    report('/private_key', 'a client has a client_secret or a private_key, not both');
  if (algorithm !== undefined && key === undefined)
    report('/algorithm', '"algorithm" is only for a private_key');
  if (hasCredential && id === undefined) report('', 'a client_secret or private_key needs a client_id');
  if (id !== undefined && issuer === undefined)
    report('', 'a client_id needs the issuer that knows it, so that no other server gets its credentials');
  if (auth.as === 'bot' && !hasCredential)
    report('', '"as: bot" needs a token, or a client_id with a client_secret or a private_key');
  return findings;
}
