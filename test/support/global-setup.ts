import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { bringUpRedis } from '../../playground/redis/bring-up-redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    redisUrl: string;
    /** A folder in which every story notes what it used of Slack. */
    usedScopes: string;
    /** A folder for what tests compile; packages are found from there. */
    buildFolder: string;
  }
}

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Brings up one Redis for the whole run and returns what stops it; a run without Redis fails here, with the ways out. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await bringUpRedis({ log: (line) => process.stdout.write(`${line}\n`) });
  const usedScopes = mkdtempSync(join(tmpdir(), 'countersign-used-'));
  project.provide('redisUrl', redis.url);
  const buildFolder = mkdtempSync(join(PACKAGES, '.countersign-tests-'));
  project.provide('usedScopes', usedScopes);
  project.provide('buildFolder', buildFolder);
  return async () => {
    for (const folder of [usedScopes, buildFolder]) rmSync(folder, { recursive: true, force: true });
    await redis.stop();
  };
}
