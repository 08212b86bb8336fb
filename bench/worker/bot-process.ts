import { fileURLToPath } from 'node:url';
import { startBot } from '../../src/start-bot.ts';
import { benchBotSetup } from '../bot-setup.ts';
import { BotOrder } from './bot-messages.ts';
import { tell, tellUsage } from './tell-usage.ts';

/*
 * The bot in a process of its own, so that its CPU and its memory are its own. It is the bot of production but for its sweep,
 * which would come in between whenever it likes: what is woken is all that the bench needs.
 */
const order = BotOrder.parse(JSON.parse(process.argv[2] ?? '{}'));
const SELDOM_MS = 3_600_000;
const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { limits: { pending_per_person: 10000000 } }
policies: { default: { approvers: [${order.approver}], direct_messages: false } }
tools: { refundOrder0: { module: ./effect-tool.js, approval: { policy: default } } }
`;

tellUsage();
await startBot({
  ...benchBotSetup({
    slack: order,
    redisUrl: order.redisUrl,
    model: { name: 'story', url: order.modelUrl },
    manifest: MANIFEST,
    folder: fileURLToPath(new URL('.', import.meta.url)),
  }),
  sweep: { everyMs: SELDOM_MS },
});
tell({ kind: 'ready' });
