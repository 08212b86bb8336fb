import { tryParseJson } from '../../src/agent/json.ts';
import { ProofCheck } from '../../src/audit/proof-check.ts';
import type { BotContext } from '../../src/bot/context.ts';
import { signingFor } from '../../src/bot/inbox/decisions/signing.ts';
import { prepareDelegation, takeSignedDelegation } from '../../src/bot/inbox/sign-delegation.ts';
import { type Assertion, addPasskey, openLink } from '../../src/engine/passkeys.ts';
import { challengeOf } from '../../src/policy/proof.ts';
import type { Store } from '../../src/store/port/store.ts';
import { SoftwareKey } from '../page/software-key.ts';

const ORIGIN = 'https://bot.example';
const keys = new Map<string, SoftwareKey>();

/** Returns the device of a person, which is the same in all compositions. */
function deviceOf(who: string): SoftwareKey {
  const known = keys.get(who) ?? new SoftwareKey(ORIGIN);
  keys.set(who, known);
  return known;
}

/** Gives everybody a key that counts. */
export async function enrolAll(store: Store, people: readonly string[]): Promise<void> {
  for (const who of people) {
    const { id: credential, publicJwk: jwk } = deviceOf(who);
    const key = { credential, jwk, origin: ORIGIN, rpId: 'bot.example' };
    await addPasskey(
      store,
      who,
      { key, name: 'Phone', counter: 0, transports: [], addedAt: 0, countsFrom: 1 },
      {},
    );
  }
}

/** Signs an approval as a person does on the page; `undefined` if they are shown nothing to sign. */
export async function signApproval(
  context: BotContext,
  requestId: string,
  who: string,
  grants: boolean,
): Promise<Assertion | undefined> {
  const { nonce } = await openLink(context.store, { requestId, who, grants });
  const prepared = await signingFor(context).prepare(who, nonce);
  if (typeof prepared === 'string') return undefined;
  const { terms } = prepared;
  return {
    nonce,
    terms: tryParseJson(JSON.stringify(terms)) ?? null,
    ...deviceOf(who).sign(await challengeOf(terms)),
  };
}

/** Signs a delegation as its approver does on the page. */
export async function signDelegation(
  context: BotContext,
  delegation: string,
  who: string,
  policies: readonly string[],
): Promise<void> {
  const { nonce } = await openLink(context.store, { delegation, who, policies: [...policies] });
  const prepared = await prepareDelegation(context, who, nonce);
  if (prepared === undefined || typeof prepared === 'string') throw new Error(`Not prepared: ${prepared}`);
  const { terms } = prepared;
  const answer = deviceOf(who).sign(await challengeOf(terms));
  const assertion = { nonce, terms: tryParseJson(JSON.stringify(terms)) ?? null, ...answer };
  const taken = await takeSignedDelegation(context, who, assertion);
  if (taken?.isApproved !== true) throw new Error(`Not signed: ${taken?.notice}`);
}

/** Checks from the log alone that each approval that needed a passkey is proven, and each in somebody's place signed by that person. */
export async function logProblems(
  store: Store,
): Promise<{ readonly problems: readonly string[]; readonly proven: number }> {
  const check = new ProofCheck({ isPartial: false });
  const problems: string[] = [];
  for await (const row of store.exportAudit()) {
    const problem = await check.add(row);
    if (problem !== undefined) problems.push(problem);
  }
  return { problems, proven: check.proven };
}
