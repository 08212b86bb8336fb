import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { withBuiltTools } from '../support/build-module.ts';
import { builtProduct } from '../support/built-product.ts';
import type { Story } from './support.ts';

/** The timing of a bot that will be killed, so that the next one need not wait long. */
export const MORTAL = {
  heartbeatTimeoutMs: 1_500,
  heartbeatMs: 100,
  leaseMs: 1_500,
  renewMs: 200,
  claimMs: 1_500,
};

/** Starts a bot in a process of its own; `kill` ends it as a power cut would. */
export async function startDoomedBot(
  { setup }: Pick<Story, 'setup'>,
  manifest: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ kill: () => Promise<void>; gone: Promise<unknown> }> {
  const { settings, folder, prefix, timing = {}, sweep = {} } = setup;
  const given = JSON.stringify({
    settings,
    manifest: await withBuiltTools(manifest, folder),
    environment,
    folder,
    prefix,
    timing,
    sweep,
  });
  const file = join(await builtProduct(), 'bot-process.js');
  const child = spawn(process.execPath, [file, given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  const [said] = await Promise.race([once(child.stdout, 'data'), gone]);
  if (!String(said).includes('listening')) throw new Error(`The bot's process ended at once, with ${said}.`);
  return { kill, gone };
}
