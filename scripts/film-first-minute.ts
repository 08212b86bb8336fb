import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import type { PersonPage } from '../playground/chromium/person-page.ts';
import { type Tile, writeSheet } from './contact-sheet.ts';
import { openWindow } from './open-window.ts';

const EVERY_MS = 5_000;
const LAST_MS = 60_000;

/** A click of the visitor, at a moment of the minute. */
interface Cue {
  readonly atMs: number;
  readonly act: (visitor: PersonPage) => Promise<unknown>;
}

/** The minute of somebody who reads quickly: yes, no, and no power. */
const CUES: readonly Cue[] = [
  { atMs: 6_000, act: (visitor) => visitor.click(visitor.pendingCard('Refund'), 'Approve') },
  { atMs: 9_500, act: (visitor) => visitor.click(visitor.tour, 'Send as Remi') },
  { atMs: 14_000, act: reject },
  { atMs: 20_500, act: (visitor) => visitor.click(visitor.pendingCard('Refund $150.00'), 'Approve') },
  { atMs: 23_500, act: (visitor) => visitor.click(visitor.tour, 'Send as Remi') },
  { atMs: 28_000, act: (visitor) => visitor.click(visitor.pendingCard('Refund'), 'Approve') },
  { atMs: 30_500, act: (visitor) => visitor.click(visitor.tour, 'Kill the bot now') },
];

async function reject(visitor: PersonPage): Promise<void> {
  await visitor.click(visitor.pendingCard('Refund'), 'Reject');
  await visitor.dialog.getByLabel(/^Why\?/).fill('Half is enough.');
  await visitor.click(visitor.dialog, 'Reject');
}

/** Plays the first minute at the bare address, and writes a frame every five seconds: each as a file, and all as one sheet. */
export async function filmFirstMinute(
  browser: Browser,
  url: string,
  { folder, sheet }: { readonly folder: string; readonly sheet: string },
): Promise<void> {
  const look = { viewport: { width: 1180, height: 740 }, colorScheme: 'light' } as const;
  const visitor = await openWindow(browser, url, '/', look);
  await visitor.page.getByRole('main').waitFor();
  const startedAt = performance.now();
  const until = (atMs: number) => sleep(Math.max(0, startedAt + atMs - performance.now()));
  const frames: Tile[] = [];
  const film = async () => {
    for (let atMs = 0; atMs <= LAST_MS; atMs += EVERY_MS) {
      await until(atMs);
      const seconds = atMs / 1_000;
      const path = join(folder, `first-minute-${String(seconds).padStart(2, '0')}.png`);
      frames.push({ caption: `${seconds} s`, picture: await visitor.page.screenshot({ path }) });
    }
  };
  const play = async () => {
    for (const { atMs, act } of CUES) {
      await until(atMs);
      await act(visitor);
    }
  };
  await Promise.all([film(), play()]);
  // A machine that is busy with other things needs some seconds more.
  await visitor.tour.getByText('Ran once, after 1 restart.').waitFor();
  await visitor.tour.getByText('Ran once, after 1 restart.').scrollIntoViewIfNeeded();
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  frames.push({ caption: `${seconds} s: paid once`, picture: await visitor.page.screenshot() });
  await visitor.page.context().close();
  await writeSheet(frames, { columns: 3, width: 590, file: sheet });
}
