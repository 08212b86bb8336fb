import { expect, test, vi } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { manifest, startGoverned } from './governed.ts';
import { CAST } from './support.ts';

const PLACE = { requesters: [CAST.requester], contextAuthors: [], channel: 'C0GENERAL1' };
const eventually = (check: () => void) => vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });

test('a changed manifest waits until its card is approved, and both processes use it from then on', async () => {
  const { start, card, cards, click, place } = await startGoverned();
  const one = await start(manifest(2));
  const two = await start(manifest(2));
  one.write(manifest(1));
  two.write(manifest(1));
  const { text, blocks } = await card();
  const shown = `${text}${JSON.stringify(blocks)}`;
  expect(shown).toContain('Change the rules in manifest.yml');
  expect(shown).toContain('• Policy default, quorum: 2 → 1');
  // The digests of the two manifests say nothing to people; the full view has them.
  expect(shown).not.toMatch(/[0-9a-f]{64}/);
  await eventually(() => expect(one.notices).toMatchObject([{ outcome: 'held' }]));
  expect([one.quorum(), two.quorum(), cards().length]).toEqual([2, 2, 1]);
  await click(CAST.alice, 'approve');
  await eventually(() => expect([one.quorum(), two.quorum()]).toEqual([1, 1]));
  // It is on record, so a process that starts later uses it as well.
  expect((await start(manifest(1))).quorum()).toBe(1);
  expect(cards()).toHaveLength(0);
  await place.shows(/Changed the rules in manifest\.yml/);
});

test('a change of what decides nothing takes effect at once; a stricter rule waits as any other, also after a restart', async () => {
  const { start, card, cards } = await startGoverned();
  const one = await start(manifest(2));
  one.write(manifest(2).replace('Help.', 'Help people.'));
  await eventually(() => expect(one.bot.toolbox.manifest.agent.instructions).toBe('Help people.'));
  expect(cards()).toHaveLength(0);
  await one.end();
  const again = await start(manifest(3));
  expect(again.quorum()).toBe(2);
  await card();
  expect(again.quorum()).toBe(2);
  expect(again.bot.toolbox.manifest.agent.instructions).toBe('Help people.');
});

test('a process whose file is the former one follows the record, and asks nobody', async () => {
  const { start, cards } = await startGoverned();
  const [one, two] = [await start(manifest(2)), await start(manifest(2))];
  one.write(manifest(2).replace('Help.', 'Help people.'));
  const told = ({ bot }: typeof one) => bot.toolbox.manifest.agent.instructions;
  await eventually(() => expect([told(one), told(two)]).toEqual(['Help people.', 'Help people.']));
  expect(cards()).toHaveLength(0);
});

test('in a rolling deployment the processes with the new file judge by the approved manifest, also when they are alone', async () => {
  const { start, card, click, ask } = await startGoverned([
    { calls: [{ name: 'pay', arguments: {} }] },
    { calls: [{ name: 'pay', arguments: {} }] },
  ]);
  const looser = manifest(2).replace('pay" } }', 'pay" }, approval: { require: never } }');
  expect(looser).not.toBe(manifest(2));
  const former = await start(manifest(2));
  const next = await start(looser);
  await card();
  const both = ask('pay it');
  await both.shows(/Approval needed[\s\S]*Needs 2 approvals/);
  await former.end();
  const alone = ask('pay it too');
  await alone.shows(/Approval needed[\s\S]*Needs 2 approvals/);
  expect(next.quorum()).toBe(2);
  await click(CAST.bruno, 'approve');
  await eventually(() =>
    expect(next.bot.toolbox.find('pay')?.judge({}, PLACE)).toMatchObject({ outcome: 'run' }),
  );
});

test('a rejected change is not applied and not asked again; the admins are told', async () => {
  const { start, click, cards, directly, modalFor, workspace } = await startGoverned();
  const one = await start(manifest(2));
  one.write(manifest(1));
  await click(CAST.bruno, 'reject');
  const modal = await modalFor(CAST.bruno, /You're about to reject/);
  await workspace.as(CAST.bruno).submit(modal.id, { reason: 'Two people must look.' });
  await directly(CAST.admin).shows(
    /The changed manifest\.yml was not applied: it was rejected\. The previous version stays active\./,
  );
  expect(one.quorum()).toBe(2);
  await one.end();
  const again = await start(manifest(1));
  expect(again.quorum()).toBe(2);
  expect(cards()).toHaveLength(0);
});

test('a change that was decided while no process ran is seen to by the next one', async () => {
  const { start, card, cards, redis, prefix, directly } = await startGoverned();
  const one = await start(manifest(2));
  one.write(manifest(1));
  await card();
  await one.end();
  const store = openRedisStore({ client: redis, prefix });
  const [id = ''] = (await store.list('asked', ['manifest.yml'], { limit: 1 })).requestIds;
  await store.end(id, { state: 'withdrawn', who: 'ops', isOperator: true, evidence: {} });
  await start(manifest(1));
  await directly(CAST.admin).shows(/was not applied: it was withdrawn\. The previous version stays active\./);
  await eventually(() => expect(cards()).toEqual([]));
});

test('of a change whose record cannot be read the admins are told', async () => {
  const { start, card, redis, prefix, directly } = await startGoverned();
  const one = await start(manifest(2));
  one.write(manifest(1));
  await card();
  await one.end();
  const store = openRedisStore({ client: redis, prefix });
  const [id = ''] = (await store.list('asked', ['manifest.yml'], { limit: 1 })).requestIds;
  await store.end(id, { state: 'withdrawn', who: 'ops', isOperator: true, evidence: {} });
  await redis.hdel(`{${prefix}}:ask:${id}`, 'kind');
  await start(manifest(2));
  await directly(CAST.admin).shows(/is quarantined, so I don't continue it\. The request .* cannot be read/);
});

test('a change whose approval no longer counts is asked again, by a Run of its own', async () => {
  const { start, card, cards, click, workspace, place, redis, prefix } = await startGoverned();
  const approvers = (quorum: number) =>
    manifest(quorum).replace(
      `approvers: [${CAST.alice}, ${CAST.bruno}], channel`,
      `approvers: [${CAST.alice}, ${CAST.bruno}, ${CAST.admin}], quorum: 2, channel`,
    );
  const one = await start(approvers(2));
  one.write(approvers(1));
  const { ts } = await card();
  await click(CAST.alice, 'approve');
  await place.shows(/1 of 2/);
  const alice = workspace.state.users.get(CAST.alice);
  if (alice !== undefined) alice.deleted = true;
  await click(CAST.bruno, 'approve');
  await eventually(() => expect(cards().filter((each) => each.ts !== ts)).toHaveLength(1));
  expect(one.quorum()).toBe(2);
  await click(CAST.bruno, 'approve');
  await click(CAST.admin, 'approve');
  await eventually(() => expect(one.quorum()).toBe(1));
  const store = openRedisStore({ client: redis, prefix });
  const { requestIds } = await store.list('asked', ['manifest.yml'], { limit: 5 });
  const loaded = await Promise.all(requestIds.map((id) => store.load(id)));
  expect(loaded).toMatchObject([
    { request: { state: 'succeeded' } },
    { request: { state: 'superseded', payload: 'quorum-lost' } },
  ]);
});

test('a change whose lines somebody edited is asked again, and not applied', async () => {
  const { start, card, cards, click, redis, prefix, directly } = await startGoverned();
  const one = await start(manifest(2));
  one.write(manifest(1));
  const { ts } = await card();
  const store = openRedisStore({ client: redis, prefix });
  const [id = ''] = (await store.list('asked', ['manifest.yml'], { limit: 1 })).requestIds;
  const input = { from: 'one', to: 'two', diff: '- policies.default.quorum: 3' };
  const reason = JSON.stringify({ code: 'edited', input, by: CAST.alice });
  await store.end(id, { state: 'superseded', reason });
  // Nothing has told the worker: the sweep finds it.
  await eventually(() => expect(cards().filter((each) => each.ts !== ts)).toHaveLength(1));
  await click(CAST.bruno, 'approve');
  await directly(CAST.admin).shows(/was not applied: it failed\./);
  expect(one.quorum()).toBe(2);
});

test('nobody but the approvers of policy changes can approve, and taking them out is a change that they approve', async () => {
  const { start, click, card, noticeFor } = await startGoverned();
  const one = await start(manifest(2));
  one.write(manifest(2).replace(/ {2}policy_changes: .*\n/, ''));
  expect(JSON.stringify((await card()).blocks)).toContain('• Removed: Agent, policy changes approvers');
  await click(CAST.admin, 'approve');
  await noticeFor(CAST.admin, /can approve this\./);
  expect(one.bot.toolbox.manifest.agent.policyChanges).toBeDefined();
  await click(CAST.alice, 'approve');
  await eventually(() => expect(one.bot.toolbox.manifest.agent.policyChanges).toBeUndefined());
  one.write(manifest(1).replace(/ {2}policy_changes: .*\n/, ''));
  await eventually(() => expect(one.quorum()).toBe(1));
});

test('another value of the environment for an approver is a change as well: after a restart the former one stays active until it is approved', async () => {
  const { start, card, click } = await startGoverned();
  const text = manifest(1).replace(
    `approvers: [${CAST.alice}, ${CAST.bruno}, ${CAST.admin}]`,
    `approvers: ["\${BOSS}"]`,
  );
  const one = await start(text, { BOSS: CAST.alice });
  await one.end();
  const again = await start(text, { BOSS: CAST.requester });
  const approvers = () => again.bot.toolbox.policy('default')?.approvers;
  expect(approvers()).toEqual([CAST.alice]);
  const shown = JSON.stringify((await card()).blocks);
  expect(shown).toContain(
    `• Policy default, approvers: [alice (${CAST.alice})] → [remi (${CAST.requester})]`,
  );
  await click(CAST.bruno, 'approve');
  await eventually(() => expect(approvers()).toEqual([CAST.requester]));
});

test('a change that is too long for its card says so, and is approved only after all its lines, none of them live', async () => {
  const { start, card, place, workspace, modalFor } = await startGoverned();
  const one = await start(manifest(2));
  const tools = Array.from(
    { length: 40 },
    (_, index) =>
      `  pay_${index}: { description: "<!channel> <https://evil.example|docs> ${index}", http: { method: POST, url: "https://example.com/pay/${index}" } }`,
  );
  one.write(manifest(1, tools.join('\n')));
  const { blocks } = await card();
  expect(JSON.stringify(blocks)).toMatch(/Changes.*… [\d,]+ more characters/);
  expect(JSON.stringify(blocks)).not.toContain('"action_id":"approve"');
  await place.click(CAST.alice, /Changes/, 'details');
  let view = await modalFor(CAST.alice);
  let seen = JSON.stringify(view.blocks);
  while (!JSON.stringify(view.blocks).includes('"action_id":"approve"')) {
    const { hash } = view;
    await workspace.as(CAST.alice).click({ viewId: view.id }, 'next-page');
    view = await workspace.until(
      () => {
        const modal = workspace.modalOf(CAST.alice);
        return modal?.hash === hash ? undefined : modal;
      },
      { what: 'the next page' },
    );
    seen += JSON.stringify(view.blocks);
  }
  const lines = Array.from(
    { length: 40 },
    (_, index) => `+ tools.pay_${index}.http.url: https://example.com/pay/${index}`,
  );
  expect(lines.filter((line) => !seen.includes(line))).toEqual([]);
  expect(seen).toContain('- policies.default.quorum: 2');
  expect(seen).not.toMatch(/"type":"(link|broadcast)"|"type":"mrkdwn","text":"[^"]*evil/);
  await workspace.as(CAST.alice).click({ viewId: view.id }, 'approve');
  await eventually(() => expect(one.quorum()).toBe(1));
});
