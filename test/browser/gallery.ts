import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, onTestFinished } from 'vitest';
import { launchChromium } from '../../playground/chromium/launch-chromium.ts';
import type { PersonPage } from '../../playground/chromium/person-page.ts';
import { startPageServer } from '../../playground/page-server/start-page-server.ts';
import { buildPage } from '../../playground/start/build-page.ts';
import { PlaygroundForTest } from '../playground/page-server/support.ts';
import type { startStory } from '../stories/support.ts';
import { openWindow, type PersonName } from './fixture.ts';

type Story = Pick<Awaited<ReturnType<typeof startStory>>, 'slack'>;

/** One picture: a person's window at a place, with these words in it. */
export interface Picture {
  readonly as: PersonName;
  /** The channel and the thread, or `home`. */
  readonly at: string | { readonly channel: string; readonly ts: string };
  readonly shows: string | RegExp;
  readonly act?: (person: PersonPage) => Promise<unknown>;
  /** Leaves the window as the next picture wants it: a dialog belongs to the person, not to the window. */
  readonly after?: (person: PersonPage) => Promise<unknown>;
}

/**
 * Opens the page on the workspace of a story and looks at states of it. With `COUNTERSIGN_PICTURES` each look is saved in that folder, so
 * that people can see what approvers see.
 */
export function startGallery() {
  const folder = process.env.COUNTERSIGN_PICTURES;
  const errors: string[] = [];
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(inject('chromium'));
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
  });
  afterEach(() => expect(errors.splice(0)).toEqual([]));
  afterAll(() => browser.close());

  return async ({ slack }: Story) => {
    const server = await startPageServer({
      slack,
      files: await buildPage({ log: () => {} }),
      port: 0,
      about: {},
      playground: new PlaygroundForTest(),
      record: { read: async () => undefined },
    });
    onTestFinished(server.stop);
    const open = (as: PersonName, at: Picture['at']): Promise<PersonPage> => {
      const place = typeof at === 'string' ? at : `${at.channel}/${at.ts}`;
      const options = { name: as, url: server.url, path: `/${as}/${place}`, errors };
      return openWindow(browser, options, { viewport: { width: 1280, height: 860 } });
    };
    const look = async (name: string, { as, at, shows, act, after }: Picture): Promise<void> => {
      const person = await open(as, at);
      await act?.(person);
      const shown = person.page.getByText(shows).last();
      await shown.waitFor();
      await shown.scrollIntoViewIfNeeded();
      if (folder !== undefined) await person.page.screenshot({ path: join(folder, `${name}.png`) });
      await after?.(person);
      await person.page.context().close();
    };
    return { look, open };
  };
}
