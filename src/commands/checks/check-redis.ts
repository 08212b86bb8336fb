import { checkServer } from '../../store/redis/check-server.ts';
import { redactUrl } from '../../store/redis/redact-url.ts';
import type { CommandContext } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { type Finding, failed, notChecked, ok, sentenceOf, warning } from './finding.ts';

/** Reaches Redis and says what of its settings endangers the record. */
export async function checkRedis(context: CommandContext): Promise<Finding[]> {
  const { REDIS_URL: url = '' } = context.environment;
  if (url === '') return [notChecked('redis', 'REDIS_URL is not set')];
  try {
    const findings = await withRecord(context, ({ client }) => checkServer(client));
    return [
      ok('redis', `reached at ${redactUrl(url)}`),
      ...findings.map(({ severity, message }) => (severity === 'error' ? failed : warning)('redis', message)),
    ];
  } catch (error) {
    return [failed('redis', sentenceOf(error))];
  }
}
