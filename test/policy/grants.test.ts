import { expect, test } from 'vitest';
import {
  coversCall,
  fillAllGroups,
  type GrantedCall,
  type GrantTerms,
  inputDigest,
} from '../../src/policy/grants.ts';
import { toPolicy } from '../../src/tools/manifest/to-manifest.ts';

const policy = toPolicy('finance', { approvers: ['U-ann', 'U-ben'], grants: { for: 1000, uses: 3 } });
const groups = [{ any: ['U-ann', 'U-ben'], quorum: 1 }];
const GRANT: GrantTerms = {
  threadId: 'T1',
  scope: 'thread',
  tool: 'refund',
  definition: 'd1',
  policy: 'finance',
  policyDigest: 'p1',
  requesters: ['U-remi', 'U-rosa'],
  contextAuthors: ['U-cleo'],
  groups,
  input: inputDigest({ amount: 5 }),
};
const CALL: GrantedCall = {
  call: {
    threadId: 'T1',
    tool: 'refund',
    input: { amount: 5 },
    requesters: ['U-remi'],
    contextAuthors: ['U-cleo', 'U-rosa'],
    channel: 'C1',
  },
  definition: 'd1',
  policy,
  policyDigest: 'p1',
  groups,
};
const called = (changes: Partial<GrantedCall['call']>): GrantedCall => ({
  ...CALL,
  call: { ...CALL.call, ...changes },
});

test('a grant covers the call that it was signed for', () => {
  expect(coversCall(GRANT, CALL)).toBe(true);
});

test.each<[string, GrantTerms, GrantedCall]>([
  ['other arguments', GRANT, called({ input: { amount: 6 } })],
  ['another tool', GRANT, called({ tool: 'delete' })],
  ['a changed tool', GRANT, { ...CALL, definition: 'd2' }],
  ['another policy', { ...GRANT, policy: 'default' }, CALL],
  ['a changed policy', GRANT, { ...CALL, policyDigest: 'p2' }],
  ['a policy without grants', GRANT, { ...CALL, policy: { ...policy, grants: undefined } }],
  ['another thread', GRANT, called({ threadId: 'T2' })],
  ['nobody', GRANT, called({ requesters: [] })],
  ['another requester', GRANT, called({ requesters: ['U-bob'] })],
  ['one more requester', GRANT, called({ requesters: ['U-remi', 'U-bob'] })],
  ['a requester whose words were context', GRANT, called({ requesters: ['U-cleo'] })],
  ['words of somebody else', GRANT, called({ contextAuthors: ['U-bob'] })],
  ['other approvers', GRANT, { ...CALL, groups: [{ any: ['U-dot'], quorum: 1 }] }],
  ['more approvers', GRANT, { ...CALL, groups: [{ any: ['U-ann', 'U-ben', 'U-dot'], quorum: 1 }] }],
  ['a higher quorum', GRANT, { ...CALL, groups: [{ any: ['U-ann', 'U-ben'], quorum: 2 }] }],
  ['high risk', GRANT, { ...CALL, policy: { ...policy, risk: 'high' } }],
  ['a condition that is false', { ...GRANT, when: 'input.amount > 5' }, CALL],
  ['a condition that cannot be evaluated', { ...GRANT, when: 'input.missing > 5' }, CALL],
  [
    'a condition that is false for one of them',
    { ...GRANT, when: 'requester == "U-remi"' },
    called({ requesters: ['U-remi', 'U-rosa'] }),
  ],
])('a grant does not cover %s', (_, grant, call) => {
  expect(coversCall(grant, call)).toBe(false);
});

test('a grant for a requester holds in any thread, and its condition decides which arguments are meant', () => {
  expect(coversCall({ ...GRANT, scope: 'requester' }, called({ threadId: 'T2' }))).toBe(true);
  expect(coversCall({ ...GRANT, when: 'input.amount < 10' }, called({ input: { amount: 9 } }))).toBe(true);
});

test('a grant holds as long as those who signed it fill every group of its policy', () => {
  const both = [
    { any: ['S1'], quorum: 1 },
    { any: ['S2'], quorum: 1 },
  ];
  expect(
    fillAllGroups(both, [
      { who: 'a', groups: [1] },
      { who: 'b', groups: [1, 2] },
    ]),
  ).toBe(true);
  expect(
    fillAllGroups(both, [
      { who: 'a', groups: [2] },
      { who: 'b', groups: [2] },
    ]),
  ).toBe(false);
  expect(fillAllGroups(both, [{ who: 'a', groups: [1, 2] }])).toBe(false);
});
