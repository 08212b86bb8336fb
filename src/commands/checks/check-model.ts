import { inspectModels } from '../../inspect-model.ts';
import { readSettings } from '../../settings.ts';
import { proxiedFetch } from '../../tools/http/proxy.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { type Finding, notChecked } from './finding.ts';

/** Replaces the settings that the model does not need, so that it can be checked before they are set. */
const OTHER_SETTINGS = { SLACK_BOT_TOKEN: 'xoxb-', SLACK_APP_TOKEN: 'xapp-', REDIS_URL: 'redis://localhost' };
const NOTHING_DECLARED = {
  model: undefined,
  fallbackModels: [],
  api: 'auto',
  config: {},
  headers: {},
  query: {},
  timeoutMs: undefined,
} as const;

/** Asks each model for a call of a harmless tool, in the way the bot does. */
export async function checkModel(
  environment: NodeJS.ProcessEnv,
  manifest: Manifest | undefined,
): Promise<Finding[]> {
  const read = readSettings({ ...environment, ...OTHER_SETTINGS });
  if (!read.ok) return [notChecked('model', read.problems.join(', '))];
  const { model, proxy } = read.settings;
  const settings = { ...model, fetch: proxiedFetch(proxy) };
  const findings = await inspectModels(settings, manifest?.agent ?? NOTHING_DECLARED);
  return findings.map((finding) => ({ check: 'model', ...finding }));
}
