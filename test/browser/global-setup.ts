import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { bringUpChromium } from '../../playground/chromium/bring-up-chromium.ts';
import { buildPage as buildPlayground } from '../../playground/start/build-page.ts';
import { buildPage } from '../../scripts/build.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of a Chromium that runs. */
    chromium: string;
  }
}

const WEB = fileURLToPath(new URL('../../src/page/web/dist', import.meta.url));

/** Finds or installs a browser and builds both pages once for all files; without a browser the run fails here with instructions. */
export async function setup(project: TestProject): Promise<void> {
  const log = (line: string) => process.stdout.write(`${line}\n`);
  const [chromium] = await Promise.all([bringUpChromium({ log }), buildPlayground({ log }), buildPage(WEB)]);
  project.provide('chromium', chromium);
}
