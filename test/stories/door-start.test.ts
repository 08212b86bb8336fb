import { expect, test } from 'vitest';
import { CALLERS, type Calling, KEYS, startCalling, WITH_CALLERS } from './calling.ts';
import { CAST } from './support.ts';

const SWEEP = { everyMs: 100, overdueMs: 0 };
const slack = { app: { commands: ['/countersign'] } };
const ACTION = { policy: 'release', title: 'Apply the plan', command: 'terraform apply plan.bin' };

const read = (door: Calling, id: string) => door.send('GET', `/v1/asks/${id}`);
const start = (door: Calling, id: string, key = KEYS.pipeline) =>
  door.send('POST', `/v1/asks/${id}/start`, { key });

function deactivate(door: Calling, who: string): void {
  const person = door.workspace.state.users.get(who);
  if (person !== undefined) person.deleted = true;
}

/** Asks, lets Alice approve, and waits until the caller may start. */
async function approved(door: Calling): Promise<string> {
  const { body } = await door.send('POST', '/v1/asks', { body: ACTION });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(async () => (await read(door, body.id)).body.status).toBe('approved');
  await door.place.shows(/release-pipeline can run it now/);
  return body.id;
}

test('an approval of somebody who is deactivated before the caller starts does not count: people are asked again', async () => {
  const door = await startCalling({ sweep: SWEEP });
  const id = await approved(door);
  deactivate(door, CAST.alice);
  // The bot may have noticed it before the caller came.
  expect(await start(door, id)).toMatchObject({ code: 409, body: { code: 'not-approved' } });
  await door.place.shows(/Too few of the people who approved are still approvers/);
  expect((await read(door, id)).body.status).toBe('waiting');
  await door.place.click(CAST.bruno, /Approval needed/, 'approve');
  await expect.poll(async () => (await read(door, id)).body.status).toBe('approved');
  expect((await start(door, id)).code).toBe(200);
});

test('what is frozen between the approval and the start is held, said on the card, and starts afterwards', async () => {
  const door = await startCalling({ slack, sweep: SWEEP });
  const id = await approved(door);
  const command = (text: string) => door.workspace.as(CAST.admin).command('/countersign', text);
  await command('freeze all Deploy week');
  await door.noticeFor(CAST.admin, /Frozen/);
  expect(await start(door, id)).toMatchObject({ code: 403, body: { code: 'frozen' } });
  await door.place.shows(/On hold/);
  expect((await read(door, id)).body.status).toBe('approved');
  await command('unfreeze all');
  await door.noticeFor(CAST.admin, /Unfrozen/);
  await door.place.shows(/release-pipeline can run it now/);
  expect((await start(door, id)).code).toBe(200);
  await door.place.shows(/release-pipeline runs it now/);
});

test('a caller that is removed after the approval starts nothing, and its card says that it was withdrawn', async () => {
  const door = await startCalling();
  const id = await approved(door);
  const [, without = ''] = CALLERS.split('  other-job:');
  await door.replaceManifest(
    `${WITH_CALLERS.replace(CALLERS, '')}\ncallers:\n  other-job:${without}    ask: [release]\n`,
  );
  expect((await start(door, id)).code).toBe(401);
  expect((await start(door, id, KEYS.other)).code).toBe(404);
  await door.place.shows(/withdrawn by[\s\S]*release-pipeline was removed from manifest\.yml/i);
});

test('a caller that loses its policy, or whose owner is deactivated, after the approval starts nothing', async () => {
  const door = await startCalling();
  const id = await approved(door);
  await door.replaceManifest(WITH_CALLERS.replace('    ask: [release]\n', '    ask: [default]\n'));
  expect(await start(door, id)).toMatchObject({ code: 409, body: { code: 'not-approved' } });
  await expect.poll(async () => (await read(door, id)).body.status).toBe('denied');
  await door.replaceManifest(WITH_CALLERS);
  const second = await door.send('POST', '/v1/asks', { body: { ...ACTION, run: 'second' } });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(async () => (await read(door, second.body.id)).body.status).toBe('approved');
  deactivate(door, CAST.requester);
  expect(await start(door, second.body.id)).toMatchObject({ code: 409, body: { code: 'not-approved' } });
  await expect.poll(async () => (await read(door, second.body.id)).body.status).toBe('denied');
});

test('after the rules have changed the approval is void: the caller starts nothing before people approve again', async () => {
  const door = await startCalling({ sweep: SWEEP });
  const id = await approved(door);
  await door.replaceManifest(WITH_CALLERS.replace('release: {', 'release: { quorum: 2,'));
  expect(await start(door, id)).toMatchObject({ code: 409, body: { code: 'not-approved' } });
  await door.place.shows(/from 1 to 2 approvals/);
  await expect.poll(async () => (await read(door, id)).body.status).toBe('waiting');
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await door.place.click(CAST.bruno, /Approval needed/, 'approve');
  await expect.poll(async () => (await read(door, id)).body.status).toBe('approved');
  expect((await start(door, id)).code).toBe(200);
});

test('two starts with one receipt at once are one start, and people who confirm its outcome cannot let it run again', async () => {
  const door = await startCalling({ sweep: SWEEP });
  const asked = await door.send('POST', '/v1/asks', { body: { ...ACTION, report_within: 1 } });
  const { id } = asked.body;
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(async () => (await read(door, id)).body.status).toBe('approved');
  const starts = await Promise.all([1, 2, 3, 4].map(() => start(door, id)));
  expect(starts.map(({ code }) => code).toSorted()).toEqual([200, 409, 409, 409]);
  await expect.poll(async () => (await read(door, id)).body.status, { timeout: 40_000 }).toBe('unknown');
  const card = await door.place.shows(/release-pipeline started it and did not say what happened/);
  expect(JSON.stringify(card.blocks)).not.toContain('Run again');
  expect((await start(door, id)).code).toBe(409);
  // A report that comes late is still better than none.
  const late = await door.send('POST', `/v1/asks/${id}/report`, { body: { outcome: 'succeeded' } });
  expect(late).toMatchObject({ code: 200, body: { status: 'succeeded' } });
  expect((await start(door, id)).code).toBe(409);
});

test('in a freeze of the manifest a caller starts nothing, approved or not', async () => {
  const door = await startCalling({ sweep: SWEEP });
  const id = await approved(door);
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  await door.replaceManifest(
    `${WITH_CALLERS}\nfreezes:\n  - { name: Quarter end, from: "${day(-1)} 00:00", to: "${day(2)} 00:00" }\n`,
  );
  expect(await start(door, id)).toMatchObject({ code: 403, body: { code: 'frozen' } });
  expect((await read(door, id)).body.status).toBe('approved');
  await door.place.shows(/On hold: Quarter end, until/);
});
