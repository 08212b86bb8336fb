import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { startBot } from '../../src/start-bot.ts';
import { parseManifest } from '../../src/tools/manifest/parse-manifest.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { BotOrder } from './bot-messages.ts';
import { tell, tellUsage } from './tell-usage.ts';

/*
 * The bot in a process of its own, so that its CPU and its memory are its own. It is the bot of production but for its sweep,
 * which would come in between whenever it likes: what is woken is all that the bench needs.
 */
const { botToken, appToken, apiUrl, redisUrl, modelUrl, approver } = BotOrder.parse(
  JSON.parse(process.argv[2] ?? '{}'),
);
const SELDOM_MS = 3_600_000;
const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { limits: { pending_per_person: 10000000 } }
policies: { default: { approvers: [${approver}], direct_messages: false } }
tools: { refundOrder0: { module: ./effect-tool.js, approval: { policy: default } } }
`;

const parsed = parseManifest(MANIFEST, { file: 'bench.yml', environment: {} });
if (!parsed.ok) throw new Error(`The manifest of the bench does not hold: ${JSON.stringify(parsed)}`);
tellUsage();
await startBot({
  settings: {
    slack: { mode: 'socket', botToken, appToken, apiUrl },
    model: { model: 'story', apiKey: 'bench', baseURL: modelUrl, silenceMs: 600_000 },
    redis: { mode: 'single', urls: [redisUrl] },
    manifest: 'bench.yml',
    port: 0,
    publicUrl: 'http://localhost',
    crashNoticeSeconds: 30,
    logLevel: 'silent',
  },
  manifest: parsed.manifest,
  folder: fileURLToPath(new URL('.', import.meta.url)),
  secrets: new Secrets(),
  logger: pino({ level: 'silent' }),
  sweep: { everyMs: SELDOM_MS },
});
tell({ kind: 'ready' });
