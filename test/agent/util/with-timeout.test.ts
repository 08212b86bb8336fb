import { expect, test } from 'vitest';
import { withTimeout } from '../../../src/agent/util/abort.ts';

test('work that ends in time gives its result or its error, and work that does not gives undefined', async () => {
  expect(await withTimeout(Promise.resolve('done'), 60_000)).toBe('done');
  await expect(withTimeout(Promise.reject(new Error('broken')), 60_000)).rejects.toThrow('broken');
  expect(await withTimeout(new Promise(() => {}), 1)).toBeUndefined();
});
