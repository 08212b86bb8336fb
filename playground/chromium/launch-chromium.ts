import { type Browser, chromium } from 'playwright-core';

/** Launches a headless browser that makes no requests except those of the pages it opens. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      // Root, as in most containers, has no sandbox; the only page that is visited is our own.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
