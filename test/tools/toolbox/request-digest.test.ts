import { expect, test } from 'vitest';
import { requestDigest } from '../../../src/tools/toolbox/request-digest.ts';
import { manifestOf, openTools } from './support.ts';

test('the words that people read are part of the digest, and a request without any keeps the digest it had', async () => {
  const toolbox = await openTools(manifestOf('  {}\n'));
  const entry = toolbox.find('ask_question');
  if (entry === undefined) throw new Error('There is no such tool');
  const base = { entry, policy: {}, input: {}, requesters: ['U1'], threadId: 'T1' };
  const digests = [
    requestDigest(base),
    requestDigest({ ...base, presented: { title: 'Refund $1.00' } }),
    requestDigest({ ...base, presented: { title: 'Refund $2.00' } }),
  ];
  expect(new Set(digests).size).toBe(3);
  expect(requestDigest({ ...base, presented: undefined })).toBe(digests[0]);
});
