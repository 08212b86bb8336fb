import { expect, test, vi } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';
import { manifest, startGoverned } from './governed.ts';
import { CAST } from './support.ts';

const eventually = (check: () => void) => vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });

test('a weaker manifest waits until its card is approved, and both processes use it from then on', async () => {
  const { start, card, cards, click, place } = await startGoverned();
  const one = await start(manifest(2));
  const two = await start(manifest(2));
  one.write(manifest(1));
  two.write(manifest(1));
  const { text, blocks } = await card();
  const shown = `${text}${JSON.stringify(blocks)}`;
  expect(shown).toContain('Weaken 1 rule in manifest.yml');
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
  await place.shows(/Weakened 1 rule in manifest\.yml/);
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
    /weakens rules and was not applied: it was rejected\. The previous version stays active\./,
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
  expect(JSON.stringify((await card()).blocks)).toContain('weakening the rules no longer needs approval');
  await click(CAST.admin, 'approve');
  await noticeFor(CAST.admin, /You're not an approver for this request\./);
  expect(one.bot.toolbox.manifest.agent.policyChanges).toBeDefined();
  await click(CAST.alice, 'approve');
  await eventually(() => expect(one.bot.toolbox.manifest.agent.policyChanges).toBeUndefined());
  one.write(manifest(1).replace(/ {2}policy_changes: .*\n/, ''));
  await eventually(() => expect(one.quorum()).toBe(1));
});
