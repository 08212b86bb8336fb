import { ModelError } from '../../agent/errors.ts';
import { openAIModel } from '../../agent/openai/openai-model.ts';
import { readSettings } from '../../settings.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { type Finding, failed, notChecked, ok, sentenceOf } from './finding.ts';

const PATIENCE_MS = 30_000;
/** Stands in for settings that have nothing to do with the model, so that it can be tried before they are set. */
const OTHERS = { SLACK_BOT_TOKEN: 'xoxb-', SLACK_APP_TOKEN: 'xapp-', REDIS_URL: 'redis://localhost' };

/** Asks the model one short question, in the way the bot does. */
export async function checkModel(
  environment: NodeJS.ProcessEnv,
  manifest: Manifest | undefined,
): Promise<Finding[]> {
  const read = readSettings({ ...environment, ...OTHERS });
  if (!read.ok) return [notChecked('model', read.problems.join(', '))];
  const { model: settings } = read.settings;
  const name = manifest?.agent.model ?? settings.model;
  const model = openAIModel({ ...settings, model: name, maxRetries: 0, silenceMs: PATIENCE_MS });
  try {
    const { finish } = await model.reply({
      system: undefined,
      history: [{ role: 'user', text: 'Answer with the word ok.' }],
      tools: [],
      signal: undefined,
      onText: undefined,
    });
    const answered = finish === 'stop' || finish === 'length';
    return [
      answered ? ok('model', `${name} answers`) : failed('model', `${name} gave no whole answer (${finish})`),
    ];
  } catch (error) {
    return [failed('model', `${sentenceOf(error)}${adviceFor(error)}`)];
  }
}

function adviceFor(error: unknown): string {
  if (!(error instanceof ModelError)) return '';
  switch (error.code) {
    case 'unauthorized':
      return '; check OPENAI_API_KEY';
    case 'refused-request':
      return '; check the name of the model: agent.model in the manifest, else OPENAI_MODEL';
    case 'rate-limited':
      return '; wait, or check the quota of the key';
    default:
      return '; check OPENAI_BASE_URL and the network';
  }
}
