import { ModelError } from '../../agent/errors.ts';
import { openAIModel } from '../../agent/openai/chat-model.ts';
import { readSettings } from '../../settings.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { type Finding, failed, firstLineOf, notChecked, ok } from './finding.ts';

const TIMEOUT_MS = 30_000;
/** Replaces the settings that the model does not need, so that it can be checked before they are set. */
const OTHER_SETTINGS = { SLACK_BOT_TOKEN: 'xoxb-', SLACK_APP_TOKEN: 'xapp-', REDIS_URL: 'redis://localhost' };

/** Asks the model one short question, as the bot would. */
export async function checkModel(
  environment: NodeJS.ProcessEnv,
  manifest: Manifest | undefined,
): Promise<Finding[]> {
  const read = readSettings({ ...environment, ...OTHER_SETTINGS });
  if (!read.ok) return [notChecked('model', read.problems.join(', '))];
  const { model: settings } = read.settings;
  const name = manifest?.agent.model ?? settings.model;
  const model = openAIModel({ ...settings, model: name, maxRetries: 0, silenceMs: TIMEOUT_MS });
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
      answered
        ? ok('model', `${name} answers`)
        : failed('model', `${name} gave no complete answer (${finish})`),
    ];
  } catch (error) {
    return [failed('model', `${firstLineOf(error)}${adviceFor(error)}`)];
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
