import type { TestProject } from 'vitest/node';
import { bringUpChromium } from '../../playground/chromium/bring-up-chromium.ts';
import { buildPage } from '../../playground/start/build-page.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of a Chromium that runs. */
    chromium: string;
  }
}

/** Finds or installs a browser and builds the page once for all files; without a browser the run fails here with instructions. */
export async function setup(project: TestProject): Promise<void> {
  const log = (line: string) => process.stdout.write(`${line}\n`);
  const [chromium] = await Promise.all([bringUpChromium({ log }), buildPage({ log })]);
  project.provide('chromium', chromium);
}
