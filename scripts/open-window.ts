import type { Browser, BrowserContextOptions } from 'playwright-core';
import { PersonPage } from '../playground/chromium/person-page.ts';

export type Look = Pick<BrowserContextOptions, 'viewport' | 'hasTouch' | 'isMobile' | 'colorScheme'>;

export const WIDE: Look = { viewport: { width: 1440, height: 900 } };
export const NARROW: Look = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** The looks of each picture, by name. */
export const LOOKS: Readonly<Record<string, Look>> = {
  'wide-light': { ...WIDE, colorScheme: 'light' },
  'wide-dark': { ...WIDE, colorScheme: 'dark' },
  'narrow-light': { ...NARROW, colorScheme: 'light' },
  'narrow-dark': { ...NARROW, colorScheme: 'dark' },
};

const TIMEOUT_MS = 60_000;

/** Opens a window for a picture; the caller closes its context. */
export async function openWindow(
  browser: Browser,
  baseURL: string,
  path: string,
  look: Look,
): Promise<PersonPage> {
  const context = await browser.newContext({
    baseURL,
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    // Sharp on the screens that people have.
    deviceScaleFactor: 2,
    ...look,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.goto(path);
  return new PersonPage(page);
}
