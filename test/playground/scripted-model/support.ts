import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import { readRefunds } from '../../../examples/shop/ledger.ts';
import { openRecordReader } from '../../../playground/record/open-record-reader.ts';
import { answerByScript } from '../../../playground/scripted-model/scripted-model.ts';
import { readThreadOpenings } from '../../../playground/tour/read-facts.ts';
import { tourSteps } from '../../../playground/tour/tour-steps.ts';
import { type StoryOptions, startStory } from '../../stories/support.ts';

interface ScriptedBotOptions extends Pick<StoryOptions, 'timing' | 'sweep' | 'withoutBot'> {
  /** Changes the shop's manifest, to shorten what takes long in it. */
  readonly change?: (manifest: string) => string;
}

/** Starts the bot with the shop's manifest and the scripted model; the files are those of a folder that goes with the test. */
export async function startScriptedBot({ change = (text) => text, ...options }: ScriptedBotOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'script-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'notes.md'), 'Twelve lemons.\n');
  const shop = fileURLToPath(new URL('../../../examples/shop', import.meta.url));
  const shipped = readFileSync(join(shop, 'manifest.yml'), 'utf8');
  const manifest = change(replaceOnce(shipped, './files', folder));

  const story = await startStory({
    environment: { RELEASE_JOB_KEY: 'k'.repeat(43), PAGE_CLIENT_SECRET: 's'.repeat(43) },
    ...options,
    ...{ manifest, folder: shop, replies: answerByScript },
  });
  const { workspace, prefix, redis } = story;
  const record = await openRecordReader({ redisUrl: inject('redisUrl'), prefix });
  onTestFinished(() => record.close());

  type Thread = ReturnType<typeof story.ask>;

  /** Waits for a matching reply of the bot in a thread and returns its text. */
  const waitForReply = ({ channel, ts }: Thread, words: RegExp) =>
    workspace.until(() => story.repliesIn({ channel, ts }).find(({ text }) => words.test(text))?.text, {
      what: `${words} in the thread`,
    });

  const tour = async (kills = 0) =>
    tourSteps({
      requests: await record.allRequests(),
      kills,
      refunds: await readRefunds(redis, `${prefix}shop:`),
      openings: readThreadOpenings(workspace.state),
    });

  return {
    ...story,
    manifest,
    folder,
    hears: waitForReply,
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
