import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import type { Workspace } from '../../playground/slack/workspace.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import type { Table } from '../support/table.ts';
import { ourBot } from '../way/bots.ts';
import { openStage } from '../way/stage.ts';
import { memoryOf, memoryRow } from './memory-of.ts';

const WAITING_THREADS = 50;
const AT_ONCE = 20;
const PARTS = 4;

/**
 * Measures what the bot holds after many reports from outside. Each report is checked against the schema of its request
 * and does not fit, so the request stays open and takes the next one.
 */
export async function measureCallbackMemory(reports: number): Promise<Table> {
  const redis = await startPrivateRedis();
  let asked = 0;
  const model = await startLocalModel({
    models: ['tool-loop'],
    script: () => {
      asked += 1;
      const properties = { [`field${asked}`]: { type: 'boolean' } };
      const result = { type: 'object', properties, required: [`field${asked}`] };
      return { calls: [{ name: 'wait_for_callback', arguments: { awaited: `build ${asked}`, result } }] };
    },
  });
  const stage = await openStage(await ourBot());
  try {
    const port = await findFreePort();
    const bot = await stage.startBot({ redisUrl: redis.url, modelUrl: model.url, port });
    const rows = [memoryRow('connected, at rest', await memoryOf(bot))];
    const addresses = await openCallbacks(stage.workspace, port);
    for (let part = 1; part <= PARTS; part += 1) {
      await sendReports(addresses, reports / PARTS);
      const name = `after ${((reports / PARTS) * part).toLocaleString('en')} reports`;
      rows.push(memoryRow(name, await memoryOf(bot)));
    }
    return {
      title: `Memory of a worker after a garbage collection, ${reports.toLocaleString('en')} callback reports, ${WAITING_THREADS} schemas`,
      columns: ['', 'resident MB', 'heap MB'],
      rows,
    };
  } finally {
    await stage.stop();
    await model.stop();
    await redis.stop();
  }
}

async function openCallbacks(workspace: Workspace, port: number): Promise<string[]> {
  const mention = `<@${workspace.state.app.botUserId}> tell me when it is built`;
  for (let sent = 0; sent < WAITING_THREADS; sent += 1) {
    const { ts } = workspace.as(CAST.requester).send(CHANNELS.general, mention);
    const card = await workspace.until(
      ({ state }) =>
        state.messages.find(
          ({ thread_ts, blocks }) => thread_ts === ts && JSON.stringify(blocks).includes('show-address'),
        ),
      { what: 'a card with an address' },
    );
    await workspace.as(CAST.requester).click({ channel: CHANNELS.general, ts: card.ts }, 'show-address');
    await workspace.until(() => addressesIn(workspace).length > sent, { what: 'the address' });
  }
  return addressesIn(workspace).map((path) => `http://127.0.0.1:${port}${path}`);
}

function addressesIn(workspace: Workspace): string[] {
  return workspace
    .ephemeralsFor(CAST.requester)
    .flatMap(({ text }) => /\/callback\/[\w.-]+/.exec(text)?.[0] ?? []);
}

async function sendReports(addresses: readonly string[], count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += AT_ONCE) {
    const statuses = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        const address = addresses[(sent + index) % addresses.length] ?? '';
        const response = await fetch(address, { method: 'POST', body: `{"attempt":${sent + index}}` });
        await response.text();
        return response.status;
      }),
    );
    if (statuses.some((status) => status !== 400))
      throw new Error(`A report was answered with ${statuses.find((status) => status !== 400)}.`);
  }
}
