import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import { proposeChange } from '../../src/bot/policy-change.ts';
import { manifestIn } from '../../src/store/documents/manifest.ts';
import type { Environment } from '../../src/tools/manifest/environment.ts';
import { chooseManifest, type ManifestVersion, versionOf } from '../../src/tools/manifest/govern.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { type ReloadNotice, watchManifest } from '../../src/tools/watch-manifest.ts';
import { newFolder } from '../commands/support.ts';
import { CAST, startStory } from './support.ts';

/** A manifest whose changes need approval, with a quorum that can be lowered. */
export const manifest = (quorum: number, rest = '') => `slack: { display_information: { name: Countersign } }
agent:
  instructions: Help.
  admins: [${CAST.admin}]
  policy_changes: { approvers: [${CAST.alice}, ${CAST.bruno}], channel: ${CHANNELS.general} }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}, ${CAST.admin}], quorum: ${quorum}, notify: { direct_messages: false } }
tools:
  pay: { description: Pays., http: { method: POST, url: "https://example.com/pay" } }
${rest}`;

function parseVersion(text: string, environment: Environment): ManifestVersion {
  const parsed = parseManifest(text, { file: 'manifest.yml', environment });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return versionOf(parsed, undefined);
}

/** Starts bots whose manifest is a file, as the program does. */
export async function startGoverned(replies: readonly ModelReply[] = []) {
  const story = await startStory({ withoutBot: true, manifest: manifest(2), replies });
  const start = async (text: string, environment: Record<string, string> = {}) => {
    const folder = newFolder();
    const file = join(folder, 'manifest.yml');
    writeFileSync(file, text);
    let active = parseVersion(text, environment);
    let reload = (): void => {};
    const bot = await story.startOwnBot({
      manifest: active.manifest,
      folder,
      policyChanges: {
        async choose(record) {
          ({ version: active } = await chooseManifest(record, active, environment));
          return { manifest: active.manifest, lock: { text: active.lock } };
        },
        onApproved: () => reload(),
      },
    });
    const notices: ReloadNotice[] = [];
    const watch = await watchManifest({
      file,
      active,
      govern: {
        record: manifestIn(bot.context.store),
        onHeld: (change) => proposeChange(bot.context, change),
      },
      readEnvironment: () => environment,
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
      .filter(({ blocks }) => JSON.stringify(blocks ?? []).includes('Changes'));
  const card = () => place.shows(/Changes/);
  const click = (who: string, action: string) => place.click(who, /Changes/, action);
  return { ...story, place, start, card, cards, click };
}
