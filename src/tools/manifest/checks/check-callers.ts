import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  pointerTo,
} from '../../../agent/json.ts';
import { didYouMean, type Finding } from '../problem.ts';
import { checkClaims } from './check-claims.ts';

const LOCAL = /^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?:[:/]|$)/i;

/** Finds mistakes of callers that the schema cannot; `written` is the file before the environment is filled in. */
export function checkCallers({ callers, policies }: JsonObject, written: JsonObject): Finding[] {
  if (!isJsonObject(callers)) return [];
  const known = isJsonObject(policies) ? Object.keys(policies) : [];
  const proofs = new Map<string, string>();
  return Object.entries(callers).flatMap(([name, caller]) => {
    if (!isJsonObject(caller)) return [];
    const pointer = pointerTo('/callers', name);
    const identity = isJsonObject(caller.identity) ? caller.identity : {};
    return [
      ...checkIdentity(`${pointer}/identity`, identity, keyIn(written, name)),
      ...checkTaken(`${pointer}/identity`, name, identity, proofs),
      ...checkIssuer(`${pointer}/on_behalf_of`, caller.on_behalf_of),
      ...checkWebhook(`${pointer}/webhook`, caller.webhook, webhookIn(written, name)),
      ...checkUse(pointer, caller),
      ...listOf(caller.ask).flatMap((policy, index): Finding[] => {
        if (known.includes(policy)) return [];
        const message = `there is no policy "${policy}"${didYouMean(policy, known)}`;
        return [{ pointer: pointerTo(`${pointer}/ask`, index), at: 'value', message }];
      }),
    ];
  });
}

function keyIn({ callers }: JsonObject, name: string): JsonValue | undefined {
  const caller = isJsonObject(callers) ? callers[name] : undefined;
  return isJsonObject(caller) && isJsonObject(caller.identity) ? caller.identity.key : undefined;
}

function webhookIn({ callers }: JsonObject, name: string): JsonValue | undefined {
  const caller = isJsonObject(callers) ? callers[name] : undefined;
  return isJsonObject(caller) ? caller.webhook : undefined;
}

function checkWebhook(
  pointer: string,
  webhook: JsonValue | undefined,
  written: JsonValue | undefined,
): Finding[] {
  if (!isJsonObject(webhook)) return [];
  const secret = isJsonObject(written) ? written.secret : undefined;
  const isOpen = typeof webhook.url === 'string' && !isProtected(webhook.url);
  return [
    ...(isOpen
      ? [{ pointer: `${pointer}/url`, at: 'value', message: 'a webhook has an https:// address' } as const]
      : []),
    ...checkSecret(`${pointer}/secret`, secret),
  ];
}

function isProtected(url: string): boolean {
  return url.startsWith('https://') || LOCAL.test(url);
}

function checkSecret(pointer: string, written: JsonValue | undefined): Finding[] {
  if (typeof written !== 'string' || /^\$\{[^}]*\}$/.test(written)) return [];
  const message = `a key is a secret; keep it in the environment and write "\${NAME}" here`;
  return [{ pointer, at: 'value', message }];
}

function checkIdentity(
  pointer: string,
  { key, oidc }: JsonObject,
  writtenKey: JsonValue | undefined,
): Finding[] {
  if ((key === undefined) === (oidc === undefined))
    return [{ pointer, at: 'key', message: 'write either "key" or "oidc"' }];
  const shown = checkSecret(`${pointer}/key`, writtenKey);
  if (shown.length > 0) return shown;
  return isJsonObject(oidc) ? checkOidc(`${pointer}/oidc`, oidc) : [];
}

function checkOidc(pointer: string, { issuer, claims }: JsonObject): Finding[] {
  const wrong = checkIssuer(pointer, { issuer: issuer ?? null });
  if (!isJsonObject(claims)) return wrong;
  if (Object.keys(claims).length > 0)
    return [...wrong, ...checkClaims(`${pointer}/claims`, String(issuer), claims).findings];
  const message = 'name at least one claim; without one everybody with a token of this issuer gets in';
  return [...wrong, { pointer: `${pointer}/claims`, at: 'value', message }];
}

/** Warns of callers whose claims may fit others too. */
export function doubtfulCallers({ callers }: JsonObject): Finding[] {
  if (!isJsonObject(callers)) return [];
  return Object.entries(callers).flatMap(([name, caller]) => {
    const identity = isJsonObject(caller) ? caller.identity : undefined;
    const oidc = isJsonObject(identity) ? identity.oidc : undefined;
    const { issuer, claims } = isJsonObject(oidc) ? oidc : {};
    if (!isJsonObject(claims) || Object.keys(claims).length === 0) return [];
    const pointer = `${pointerTo('/callers', name)}/identity/oidc/claims`;
    return checkClaims(pointer, String(issuer), claims).warnings;
  });
}

function checkIssuer(pointer: string, declared: JsonValue | undefined): Finding[] {
  const issuer = isJsonObject(declared) ? declared.issuer : undefined;
  if (typeof issuer !== 'string' || isProtected(issuer)) return [];
  return [{ pointer: `${pointer}/issuer`, at: 'value', message: 'an issuer has an https:// address' }];
}

/** Refuses two callers that one proof would let in. */
function checkTaken(
  pointer: string,
  name: string,
  { key, oidc }: JsonObject,
  proofs: Map<string, string>,
): Finding[] {
  const proof = key === undefined ? canonicalJson(oidc ?? null) : String(key);
  const other = proofs.get(proof);
  proofs.set(proof, other ?? name);
  if (other === undefined) return [];
  return [{ pointer, at: 'value', message: `"${other}" has the same identity; each caller needs its own` }];
}

function checkUse(pointer: string, { tools, ask }: JsonObject): Finding[] {
  if (listOf(tools).length + listOf(ask).length > 0) return [];
  return [{ pointer, at: 'key', message: 'it may do nothing: name "tools" or "ask" policies' }];
}

function listOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
