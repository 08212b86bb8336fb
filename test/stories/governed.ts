import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import { proposeChange } from '../../src/bot/turns/policy-change.ts';
import { chooseManifest, type ManifestVersion, manifestDigest } from '../../src/tools/manifest/govern.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { type ReloadNotice, watchManifest } from '../../src/tools/manifest/reload.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { newFolder } from '../commands/support.ts';
import { CAST, startStory } from './support.ts';

/** A manifest whose weakening needs approval, with a quorum that can be lowered. */
export const manifest = (quorum: number, rest = '') => `slack: { display_information: { name: Countersign } }
agent:
  instructions: Help.
  admins: [${CAST.admin}]
  policy_changes: { approvers: [${CAST.alice}, ${CAST.bruno}], channel: ${CHANNELS.general} }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}, ${CAST.admin}], quorum: ${quorum}, direct_messages: false }
tools:
  pay: { description: Pays., http: { method: POST, url: "https://example.com/pay" } }
${rest}`;

function versionOf(text: string): ManifestVersion {
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { manifest: value, secrets } = parsed;
  return { digest: manifestDigest(text), text, lock: undefined, manifest: value, secrets };
}

/** Starts bots whose manifest is a file, as the program does. */
export async function startGoverned() {
  const story = await startStory({ withoutBot: true, manifest: manifest(2) });
  const start = async (text: string) => {
    const folder = newFolder();
    const file = join(folder, 'manifest.yml');
    writeFileSync(file, text);
    let active = versionOf(text);
    let reload = (): void => {};
    const bot = await story.startOwnBot({
      manifest: active.manifest,
      folder,
      policyChanges: {
        async choose(record) {
          ({ version: active } = await chooseManifest(record, active, {}));
          return { manifest: active.manifest, lock: { text: active.lock } };
        },
        onApproved: () => reload(),
      },
    });
    const notices: ReloadNotice[] = [];
    const watch = await watchManifest({
      file,
      text: active.text,
      lock: { text: active.lock },
      govern: { record: bot.context.store, onHeld: (change) => proposeChange(bot.context, change) },
      environment: {},
      toolbox: bot.toolbox,
      secrets: new Secrets(),
      store: bot.context.store,
      logger: bot.context.logger,
      onNotice: (notice) => void notices.push(notice),
      quietMs: 20,
      pollMs: 100,
    });
    reload = () => void watch.reload();
    onTestFinished(() => watch.close());
    const quorum = () => bot.toolbox.policy('default')?.quorum;
    return {
      bot,
      notices,
      quorum,
      write: (next: string) => writeFileSync(file, next),
      async end() {
        await watch.close();
        await bot.stop();
      },
    };
  };
  const { workspace } = story;
  const place = story.placeIn(CHANNELS.general);
  /** The cards that wait. */
  const cards = () =>
    workspace
      .messagesIn(CHANNELS.general)
      .filter(({ blocks }) => JSON.stringify(blocks ?? []).includes('Rules that get weaker'));
  const card = () => place.shows(/Rules that get weaker/);
  const click = (who: string, action: string) => place.click(who, /Rules that get weaker/, action);
  return { ...story, place, start, card, cards, click };
}
