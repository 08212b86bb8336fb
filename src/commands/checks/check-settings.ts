import { readSettings } from '../../settings.ts';
import { type Finding, failed, ok } from './finding.ts';

/** Names every setting that is missing or wrong. */
export function checkSettings(environment: NodeJS.ProcessEnv): Finding[] {
  const read = readSettings(environment);
  if (read.ok) return [ok('settings', 'all required settings are set')];
  return read.problems.map((problem) => failed('settings', `${problem}; see .env.example`));
}
