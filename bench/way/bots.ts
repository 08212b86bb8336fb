import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { CAST } from '../../playground/slack/default-cast.ts';
import type { LocalSlack } from '../../playground/slack/start-local-slack.ts';
import { bundle } from '../../scripts/build.ts';
import { builtFile } from '../support/built-file.ts';
import type { NodeCommand } from '../support/node-process.ts';
import { REFUND_TOOL } from '../support/refund.ts';

/** A bot that does the measured work. */
export interface BotKind extends NodeCommand {
  readonly name: 'ours' | 'floor' | 'peer';
}

export interface BotServers {
  readonly slack: Pick<LocalSlack, 'botToken' | 'appToken' | 'apiUrl'>;
  readonly redisUrl: string;
  readonly modelUrl: string;
  readonly port?: number;
  /** The policy of the tool; one approver without direct messages by default. */
  readonly policy?: string | undefined;
  /** The duration of the action, with progress all the time; it takes no time by default. */
  readonly actionMs?: number | undefined;
  /** Further sections of the manifest, and the variables that they name. */
  readonly more?: string | undefined;
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

// One card for a request, as the other bots have it: no copies in direct messages.
const POLICY = `approvers: [${CAST.alice}], notify: { direct_messages: false }`;
const manifestWith = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { admins: [${CAST.bruno}], limits: { pending_per_person: 10000000 } }
policies: { default: { ${policy} } }
tools: { ${REFUND_TOOL.name}: { module: ./refund-tool.js, approval: { policy: default } } }
`;

const BUNDLE = fileURLToPath(new URL('../../node_modules/.cache/countersign-bundle', import.meta.url));
let bundled: ReturnType<typeof bundle> | undefined;

/** Our bot as production runs it: bundled, with the flags of `npm start`, and with a tool that shares its library. */
export async function ourBot(): Promise<BotKind> {
  await bundleOnce();
  const flags = packageJson.scripts.start.split(' ').filter((word) => word.startsWith('--'));
  return { name: 'ours', file: join(BUNDLE, 'bin/main.js'), args: [], flags };
}

/** Bundles our bot, and returns the bundler's list of what is in each file. */
export function bundleOnce(): ReturnType<typeof bundle> {
  bundled ??= bundle(BUNDLE, ['bench/support/refund-tool.ts'], { sourcemap: true });
  return bundled;
}

/** Returns the bots of a comparison; the peer is among them only when its packages are installed. */
export async function allBots(): Promise<BotKind[]> {
  const peers = fileURLToPath(new URL('../peers', import.meta.url));
  const floor: BotKind = { name: 'floor', file: builtFile('bench/way/floor-bot.ts'), args: [] };
  const peer: BotKind = { name: 'peer', file: join(peers, 'chat-bot.mjs'), args: [] };
  return [await ourBot(), floor, ...(existsSync(join(peers, 'node_modules')) ? [peer] : [])];
}

/** Returns the environment of a bot, with the names that our bot documents; the other bots read the same. */
export function botEnvironment({
  slack,
  redisUrl,
  modelUrl,
  port = 0,
  policy = POLICY,
  actionMs = 0,
  more = '',
  environment = {},
}: BotServers): NodeJS.ProcessEnv {
  const manifest = join(BUNDLE, 'bin/manifest.yml');
  writeFileSync(manifest, `${manifestWith(policy)}${more}`);
  return {
    ...environment,
    PATH: process.env.PATH,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    REDIS_URL: redisUrl,
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: modelUrl,
    OPENAI_MODEL: 'tool-loop',
    MANIFEST: manifest,
    PORT: String(port),
    APPROVER: CAST.alice,
    BENCH_ACTION_MS: String(actionMs),
  };
}
