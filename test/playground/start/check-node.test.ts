import { expect, test } from 'vitest';
import { checkNode } from '../../../playground/check-node.ts';

test.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0'])('Node %s will do', (version) => {
  expect(checkNode(version)).toBeUndefined();
});

test.each(['18.20.4', '20.18.3', '19.99.0'])('Node %s is refused in one sentence', (version) => {
  expect(checkNode(version)).toBe(
    `The playground needs Node 20.19 or newer, and this is Node ${version}; install a newer one.`,
  );
});
