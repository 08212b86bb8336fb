import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { openRecordReader } from '../../../playground/record/open-record-reader.ts';
import { readOpenings } from '../../../playground/script/read-openings.ts';
import { readRefunds } from '../../../playground/script/read-refunds.ts';
import { answerByScript } from '../../../playground/script/scripted-model.ts';
import { tourSteps } from '../../../playground/script/tour.ts';
import { type StoryOptions, startStory } from '../../stories/support.ts';

interface PlayOptions extends Pick<StoryOptions, 'timing' | 'sweep' | 'withoutBot'> {
  /** Changes the shipped manifest, to shorten what takes long in it. */
  readonly change?: (manifest: string) => string;
}

/** Starts the bot with the shipped manifest and the scripted model; the files are those of a folder that goes with the test. */
export async function startPlay({ change = (text) => text, ...options }: PlayOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'script-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'notes.md'), 'Twelve lemons.\n');
  const shipped = readFileSync(new URL('../../../manifest.yml', import.meta.url), 'utf8');
  const manifest = change(replaceOnce(shipped, './sandbox', folder));

  const story = await startStory({ ...options, manifest, replies: answerByScript });
  const { workspace, prefix, redis } = story;
  const record = await openRecordReader({ redisUrl: inject('redisUrl'), prefix });
  onTestFinished(() => record.close());

  type Thread = ReturnType<typeof story.ask>;

  /** Waits until the bot has said such words in a thread, and gives the whole text. */
  const hears = ({ channel, ts }: Thread, words: RegExp) =>
    workspace.until(() => story.repliesIn({ channel, ts }).find(({ text }) => words.test(text))?.text, {
      what: `${words} in the thread`,
    });

  const tour = async (kills = 0) =>
    tourSteps({
      requests: await record.allRequests(),
      kills,
      refunds: await readRefunds(redis, prefix),
      openings: readOpenings(workspace.state),
    });

  return {
    ...story,
    manifest,
    folder,
    hears,
    tour,
    doneSteps: async () => (await tour()).filter(({ isDone }) => isDone).map(({ id }) => id),
    /** Opens the modal behind a button of a card, fills it in and submits it. */
    fillIn: async (
      thread: Thread,
      who: string,
      [card, button]: readonly [RegExp, string],
      values: Readonly<Record<string, string>>,
    ) => {
      await thread.click(who, card, button);
      const modal = await story.modalFor(who);
      return workspace.as(who).submit(modal.id, values);
    },
  };
}

/** A replacement that finds nothing would leave the test with what it wanted to change. */
export function replaceOnce(text: string, old: string, next: string): string {
  if (text.split(old).length !== 2) throw new Error(`The manifest does not have "${old}" once.`);
  return text.replace(old, next);
}
