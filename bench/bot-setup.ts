import { pino } from 'pino';
import type { BotSetup } from '../src/start-bot.ts';
import { parseManifest } from '../src/tools/manifest/parse.ts';
import { Secrets } from '../src/tools/secrets.ts';

export interface BenchBot {
  readonly slack: { readonly botToken: string; readonly appToken: string; readonly apiUrl: string };
  readonly redisUrl: string;
  readonly model: { readonly name: string; readonly url: string };
  readonly manifest: string;
  /** The folder that the manifest's paths start from. */
  readonly folder: string;
}

/** The bot as measures through Slack start it: over sockets, as quick to notice a crash as in production, and silent, so that no log is in its time. */
export function benchBotSetup({ slack, redisUrl, model, manifest, folder }: BenchBot): BotSetup {
  const parsed = parseManifest(manifest, { file: 'bench.yml', environment: {} });
  if (!parsed.ok) throw new Error(`The manifest of the bench does not hold: ${JSON.stringify(parsed)}`);
  const { botToken, appToken, apiUrl } = slack;
  return {
    settings: {
      slack: { mode: 'socket', botToken, appToken, apiUrl },
      model: { model: model.name, apiKey: 'bench', baseURL: model.url, silenceMs: 600_000 },
      redis: { mode: 'single', urls: [redisUrl] },
      manifest: 'bench.yml',
      port: 0,
      publicUrl: 'http://localhost',
      crashNoticeSeconds: 30,
      logLevel: 'silent',
    },
    manifest: parsed.manifest,
    folder,
    secrets: new Secrets(),
    logger: pino({ level: 'silent' }),
  };
}
