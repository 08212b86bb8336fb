import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { type LocalModelOptions, startLocalModel } from '../../playground/model/start-local-model.ts';
import type { AppSeed } from '../../playground/slack/build-state.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import { GOOD, GOOD_SCOPES, jsonLines, newFolder, run, writeManifest } from './support.ts';

export const PING: ModelReply = { calls: [{ name: 'ping', arguments: { word: 'ok' } }] };

/** Everything the bot needs, as local stand-ins; the app has the scopes of `GOOD`. */
export async function surroundings(
  options: {
    readonly app?: Partial<AppSeed>;
    readonly replies?: ModelReply[];
    readonly manifest?: string;
  } & Pick<LocalModelOptions, 'shutdowns' | 'models'> = {},
) {
  const { app = {}, replies = [PING], manifest = GOOD, ...others } = options;
  const slack = await startLocalSlack({ app: { scopes: GOOD_SCOPES, ...app } });
  const model = await startLocalModel({ script: replies, ...others });
  onTestFinished(async () => {
    await slack.stop();
    await model.stop();
  });
  return {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'hidden-word',
    OPENAI_BASE_URL: model.url,
    OPENAI_MODEL: 'scripted',
    REDIS_URL: inject('redisUrl'),
    AUDIT_KEY: createKeyPair().privatePem,
    AUDIT_STATE_FILE: join(newFolder(), 'audit.state'),
    MANIFEST: writeManifest(manifest),
  };
}

export interface Line {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly fix?: string;
}

/** The doctor's finding on one check, as `status: message`. */
export async function saysOf(
  check: string,
  environment: Readonly<Record<string, string>>,
  prefix?: string,
): Promise<string[]> {
  const { out } = await run(['doctor', '--json'], environment, prefix);
  const [report] = jsonLines(out);
  const findings = report?.findings as Line[];
  return findings
    .filter((line) => line.check === check)
    .map(({ status, message, fix }) => `${status}: ${message}${fix === undefined ? '' : `; ${fix}`}`);
}
