import { expect } from 'vitest';
import type { VoteProof } from '../../../src/store/port/values.ts';
import { approve, ask, found, reject } from '../support.ts';
import type { Scenarios, Stage } from './stage.ts';

const SIGNED = { policy: { passkey: true as const } };

/** A proof whose link and keys are on record. */
async function proofOf({ store }: Pick<Stage, 'store'>): Promise<VoteProof> {
  await store.writeDocument('passkey-links', 'n-1', { version: 'l-1', value: '{}' }, { forMs: 60_000 });
  await store.writeDocument('passkeys', 'U-ann', { version: 'k-1', value: '[0]' });
  return {
    body: { signature: 's' },
    link: ['passkey-links', 'n-1'],
    keys: { name: ['passkeys', 'U-ann'], seen: 'k-1', next: { version: 'k-2', value: '[1]' } },
  };
}

/** Guards of approvals that a passkey signs. */
export const passkeyScenarios: Scenarios = {
  'vote-proof': async ({ store }) => {
    const requestId = await ask(store, SIGNED);
    expect(await store.vote(requestId, approve('U-ann'))).toEqual({ outcome: 'not-proven' });
    expect(await found(store, requestId)).toMatchObject({ state: 'pending', approvals: 0 });
    // Rejecting needs no key.
    expect(await store.vote(requestId, reject('U-ann'))).toMatchObject({ state: 'rejected' });
  },
  'vote-link': async (stage) => {
    const { store, resending } = stage;
    const proof = await proofOf(stage);
    const requestId = await ask(store, SIGNED);
    // A lost reply uses the link up once, and the vote is there.
    expect(await resending.vote(requestId, approve('U-ann', { proof }))).toMatchObject({ state: 'approved' });
    expect(await found(store, requestId)).toMatchObject({ votes: [{ proof: { signature: 's' } }] });
    expect(await store.readDocument('passkeys', 'U-ann')).toEqual({ version: 'k-2', value: '[1]' });
    const keys = { ...proof.keys, seen: 'k-2' };
    const again = approve('U-ann', { proof: { ...proof, keys } });
    expect(await store.vote(await ask(store, SIGNED), again)).toEqual({ outcome: 'link-used' });
  },
  'vote-keys': async (stage) => {
    const { store } = stage;
    const proof = await proofOf(stage);
    await store.writeDocument('passkeys', 'U-ann', { version: 'k-3', value: '[]' });
    const requestId = await ask(store, SIGNED);
    expect(await store.vote(requestId, approve('U-ann', { proof }))).toEqual({ outcome: 'keys-changed' });
    expect(await store.readDocument('passkey-links', 'n-1')).toBeDefined();
  },
};
