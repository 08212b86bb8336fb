import { checkServer, readClock } from '../../store/redis/check-server.ts';
import { redactUrl } from '../../store/redis/redact-url.ts';
import type { CommandContext } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { checkClock } from './check-clock.ts';
import { type Finding, failed, firstLineOf, notChecked, ok, warning } from './finding.ts';

/** Connects to Redis and reports settings that endanger the record. */
export async function checkRedis(context: CommandContext): Promise<Finding[]> {
  const { REDIS_URL: url = '' } = context.environment;
  if (url === '') return [notChecked('redis', 'REDIS_URL is not set')];
  try {
    const { findings, threads, time } = await withRecord(context, async ({ client, store }) => ({
      findings: await checkServer(client),
      threads: await store.listQuarantined(),
      time: await readClock(client),
    }));
    return [
      ok('redis', `reached at ${redactUrl(url)}`),
      ...threads.map(({ threadId, reason }) =>
        warning('threads', `${threadId} is quarantined: ${reason}; see "countersign retry --help"`),
      ),
      ...findings.map(({ severity, message }) => (severity === 'error' ? failed : warning)('redis', message)),
      ...(time === undefined ? [] : [checkClock('Redis', time, Date.now())]),
    ];
  } catch (error) {
    return [failed('redis', firstLineOf(error))];
  }
}
