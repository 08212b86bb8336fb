import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { messagesMatching, openPageClient, type PageClient } from '../../../playground/page-client.ts';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { choosePagePort } from '../../../playground/start/bot-environment.ts';
import { temporaryFolder } from '../install/stand-ins.ts';
import { runCommandLine } from './run-command-line.ts';

const LIBRARY = fileURLToPath(new URL('../../../src/index.ts', import.meta.url));
const ZOD = fileURLToPath(import.meta.resolve('zod'));
const MANAGER = 'U0MANAGER7';

const MANIFEST = `
policies:
  default: { approvers: [${MANAGER}], expires: 1h }
  treasury: { approvers: [S0TREASURY], expires: 1h, notify: { announce: [C0LEDGER01] } }
tools:
  money: { module: ./tools.ts, approval: default }
`;

/** Two tools, of which one has the name of a tool of the shop. */
const TOOLS = `
import { defineTool } from ${JSON.stringify(LIBRARY)};
import { z } from ${JSON.stringify(ZOD)};
const inputSchema = z.object({ to: z.string(), amount: z.number().min(10) });
export const transfer = defineTool(
  { name: 'transfer_money', description: 'Transfers money.', inputSchema },
  async ({ to, amount }) => \`\${to} got \${amount}\`,
);
export const refund = defineTool(
  { name: 'refund_order', description: 'Refunds money.', inputSchema },
  async () => 'refunded',
);
`;

test('a manifest of one’s own has its tools on the page, its people in the workspace, and no tour', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'manifest.yml'), MANIFEST);
  writeFileSync(join(folder, 'tools.ts'), TOOLS);
  const files = ['--manifest', join(folder, 'manifest.yml'), '--data', join(folder, 'data')];
  const playground = runCommandLine('--port', '0', ...files);
  onTestFinished(() => playground.abandon());
  const url = await playground.ready();
  async function openClient(userId: string): Promise<PageClient> {
    const client = await openPageClient(url, userId);
    onTestFinished(() => client.close());
    await client.until((entities) => entities[0], { what: 'anything' });
    return client;
  }

  const output = playground.output();
  expect(output).toContain(`Alice Moreau ${CAST.alice}`);
  expect(output).toContain(
    `Added because the manifest names them: Cleo Sanz ${MANAGER}, @s0treasury S0TREASURY, #c0ledger01 C0LEDGER01`,
  );
  expect(output).toContain('for example: call refund_order {"to":"to","amount":10}');
  expect(output).not.toContain('a card is waiting');

  const remi = await openClient(CAST.requester);
  expect(remi.entities.get('playground')).toMatchObject({
    tour: [],
    calls: ['call refund_order {"to":"to","amount":10}', 'call transfer_money {"to":"to","amount":10}'],
  });
  const manager = await openClient(MANAGER);
  expect(manager.entities.get(`person:${MANAGER}`)).toMatchObject({
    ...{ realName: 'Cleo Sanz', title: 'Approver', about: `${MANAGER}; approves under default` },
  });
  expect(remi.entities.get(`person:${CAST.alice}`)).toMatchObject({
    about: `${CAST.alice}; approves under treasury`,
  });
  expect(messagesMatching([...remi.entities.values()], /./)).toEqual([]);

  const workspace = remi.entities.get('workspace');
  const bot = workspace?.kind === 'workspace' ? workspace.app.botUserId : '';
  const call = 'call transfer_money {"to":"Ana","amount":120}';
  await remi.act('send', { channel: CHANNELS.general, text: `<@${bot}> ${call}` });
  const card = await manager.until(
    (entities) =>
      messagesMatching(entities, /Approval needed/).find(({ channel }) => channel === CHANNELS.general),
    { what: 'the card' },
  );
  expect(JSON.stringify(card.blocks)).toContain('Ana');
  const approve = card.blocks.flatMap(buttonsOf).find(({ actionId }) => actionId === 'approve');
  if (approve === undefined) throw new Error('The card has no button to approve.');
  await manager.act('click', { target: { channel: card.channel, ts: card.ts }, ...approve });
  await remi.until((entities) => messagesMatching(entities, /`transfer_money` returned “Ana got 120”/)[0], {
    what: 'the result',
  });
});

test('without --port another port is taken when 4400 has a server', async () => {
  const other = createServer().listen(4400);
  onTestFinished(() => void other.close());
  // In use by others on this machine is as good.
  await Promise.race([once(other, 'listening'), once(other, 'error')]);
  const port = await choosePagePort(undefined);
  expect(port).toBeGreaterThan(4400);
  expect(await choosePagePort(4400)).toBe(4400);
});

interface Button {
  readonly actionId: string;
  readonly blockId: string;
}

/** The buttons of a block, as a click names them. */
function buttonsOf(block: { readonly [key: string]: unknown }): readonly Button[] {
  const { elements, block_id: blockId } = block;
  if (!Array.isArray(elements) || typeof blockId !== 'string') return [];
  return elements.flatMap((element: { action_id?: unknown; value?: unknown }) =>
    typeof element.action_id === 'string' ? [{ actionId: element.action_id, blockId }] : [],
  );
}
