import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';
import { CAST, PLACES } from './support.ts';

test('Home and /countersign list what a caller asks for, with its name, for approvers and for its owner', async () => {
  const door = await startCalling({ slack: { app: { commands: ['/countersign'] } } });
  await door.refund(12_000);
  await door.place.shows(/Approval needed/);
  for (const who of [CAST.alice, CAST.requester]) {
    door.workspace.as(who).openHome();
    await door.workspace.until(
      () => {
        const home = JSON.stringify(door.workspace.homeOf(who)?.blocks ?? []);
        return home.includes('Refund order A-1001: amount 12000') && home.includes('release-pipeline');
      },
      { what: `the request in the Home of ${who}`, timeoutMs: 10_000 },
    );
    await door.workspace.as(who).command('/countersign', '', { channel: PLACES.general });
    await door.workspace.until(
      () =>
        door.workspace.ephemeralsFor(who).some(({ blocks, text }) => {
          const words = `${text} ${JSON.stringify(blocks)}`;
          return words.includes('Refund order A-1001: amount 12000') && words.includes('release-pipeline');
        }),
      { what: `the list of ${who}`, timeoutMs: 10_000 },
    );
  }
  expect(await door.refunded()).toBe(0);
});
