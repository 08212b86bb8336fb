import { inspectModels } from '../../inspect-model.ts';
import { readSettings } from '../../settings.ts';
import { proxiedFetch } from '../../tools/http/proxy.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { type Finding, notChecked } from './finding.ts';

/** Stands in for settings that have nothing to do with the model, so that it can be tried before they are set. */
const OTHERS = { SLACK_BOT_TOKEN: 'xoxb-', SLACK_APP_TOKEN: 'xapp-', REDIS_URL: 'redis://localhost' };
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
  const read = readSettings({ ...environment, ...OTHERS });
  if (!read.ok) return [notChecked('model', read.problems.join(', '))];
  const { model, proxy } = read.settings;
  const settings = { ...model, fetch: proxiedFetch(proxy) };
  const findings = await inspectModels(settings, manifest?.agent ?? NOTHING_DECLARED);
  return findings.map((finding) => ({ check: 'model', ...finding }));
}
