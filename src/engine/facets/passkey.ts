import { countsNow, readPasskeys, unprovenOf } from '../passkeys.ts';
import { type Facet, NOTHING } from './facet.ts';

/** The number of approvers with a passkey that counts now, where approving takes one. Each approval is proven again before a start. */
export const passkey = {
  name: 'passkey',
  schema: NOTHING,
  readNow: async ({ request: { policy, state }, approvers }, { store }) => {
    if (policy.passkey !== true || state !== 'pending' || approvers === undefined) return undefined;
    const held = await Promise.all(approvers.map((who) => readPasskeys(store, who)));
    return held.filter(({ keys }) => keys.some((key) => countsNow(key))).length;
  },
  check: {
    code: 'unproven',
    refuse: async (_kept, { approvedAs, approvers }, { store }) => {
      const people = await unprovenOf(store, approvedAs, approvers);
      return people.length === 0 ? undefined : { code: 'unproven', people };
    },
  },
} satisfies Facet<'passkey', never, number>;
