import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';

/**
 * Lets Prometheus's own tool judge, and prints what it did. Where it is not installed the checks of the test itself have to do; CI
 * installs it, so its absence fails there.
 */
export function checkWithPromtool(args: readonly string[], input = ''): void {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  const called = `promtool ${args.slice(0, 2).join(' ')}`;
  if (error !== undefined) {
    process.stdout.write(`${called}: not run (${error.message}); only the test's own checks judged\n`);
    expect(process.env.CI, 'promtool must be installed in CI').toBeUndefined();
    return;
  }
  // prom-client's own metrics break some of its rules of style, which is status 3; ours must not.
  const complaints = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('countersign_'));
  expect({ complaints, status: status === 3 ? 0 : status, stderr: status === 3 ? '' : stderr }).toEqual({
    complaints: [],
    status: 0,
    stderr: '',
  });
  process.stdout.write(`${called}: passed\n`);
}
