import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import { proposeChange } from '../../src/bot/turns/policy-change.ts';
import { chooseManifest, type ManifestVersion, manifestDigest } from '../../src/tools/manifest/govern.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { type ReloadNotice, watchManifest } from '../../src/tools/manifest/reload.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { newFolder } from '../commands/support.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { CAST, startStory } from './support.ts';

const manifest = (quorum: number, rest = '') => `slack: { display_information: { name: Countersign } }
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
async function startGoverned() {
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
      .filter(({ blocks }) => JSON.stringify(blocks ?? []).includes('What becomes weaker'));
  const card = () => place.shows(/What becomes weaker/);
  const click = (who: string, action: string) => place.click(who, /What becomes weaker/, action);
  return { ...story, place, start, card, cards, click };
}

const eventually = (check: () => void) => vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });

test('a weaker manifest waits until its card is approved, and both processes use it from then on', async () => {
  const { start, card, cards, click, place } = await startGoverned();
  const one = await start(manifest(2));
  const two = await start(manifest(2));
  one.write(manifest(1));
  two.write(manifest(1));
  const { text, blocks } = await card();
  const shown = `${text}${JSON.stringify(blocks)}`;
  expect(shown).toContain('Make a rule weaker');
  expect(shown).toContain('policies.default: approvers: 2 of');
  expect(shown).toContain('alice (U0ALICE002)');
  expect(shown).toContain('manifest.yml');
  await eventually(() => expect(one.notices).toMatchObject([{ outcome: 'held' }]));
  expect([one.quorum(), two.quorum(), cards().length]).toEqual([2, 2, 1]);
  await click(CAST.alice, 'approve');
  await eventually(() => expect([one.quorum(), two.quorum()]).toEqual([1, 1]));
  // It is on record, so a process that starts later uses it as well.
  expect((await start(manifest(1))).quorum()).toBe(1);
  expect(cards()).toHaveLength(0);
  await place.shows(/Made a rule weaker/);
});

test('a stronger manifest takes effect at once, and the one before it needs approval from then on, also after a restart', async () => {
  const { start, card, cards } = await startGoverned();
  const one = await start(manifest(2));
  one.write(manifest(3));
  await eventually(() => expect(one.quorum()).toBe(3));
  expect(cards()).toHaveLength(0);
  await one.end();
  const again = await start(manifest(2));
  expect(again.quorum()).toBe(3);
  await card();
  expect(again.quorum()).toBe(3);
});

test('a process whose file is the former one follows the record, and asks nobody', async () => {
  const { start, cards } = await startGoverned();
  const [one, two] = [await start(manifest(2)), await start(manifest(2))];
  one.write(manifest(3));
  await eventually(() => expect([one.quorum(), two.quorum()]).toEqual([3, 3]));
  expect(cards()).toHaveLength(0);
});

test('a rejected change is not applied and not asked again; the admins are told', async () => {
  const { start, click, cards, directly, modalFor, workspace } = await startGoverned();
  const one = await start(manifest(2));
  one.write(manifest(1));
  await click(CAST.bruno, 'reject');
  const modal = await modalFor(CAST.bruno, /You're about to reject/);
  await workspace.as(CAST.bruno).submit(modal.id, { reason: 'Two people must look.' });
  await directly(CAST.admin).shows(
    /makes rules weaker and was not applied: it was rejected\. The previous version stays active\./,
  );
  expect(one.quorum()).toBe(2);
  await one.end();
  const again = await start(manifest(1));
  expect(again.quorum()).toBe(2);
  expect(cards()).toHaveLength(0);
});

test('nobody but the approvers of policy changes can approve, and taking them out is a change that they approve', async () => {
  const { start, click, card, noticeFor } = await startGoverned();
  const one = await start(manifest(2));
  one.write(manifest(2).replace(/ {2}policy_changes: .*\n/, ''));
  expect(JSON.stringify((await card()).blocks)).toContain('weaker rules need no approval any more');
  await click(CAST.admin, 'approve');
  await noticeFor(CAST.admin, /You're not an approver for this request\./);
  expect(one.bot.toolbox.manifest.agent.policyChanges).toBeDefined();
  await click(CAST.alice, 'approve');
  await eventually(() => expect(one.bot.toolbox.manifest.agent.policyChanges).toBeUndefined());
  one.write(manifest(1).replace(/ {2}policy_changes: .*\n/, ''));
  await eventually(() => expect(one.quorum()).toBe(1));
});
