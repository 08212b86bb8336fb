import type { MigrationStep } from '../../../src/store/redis/record-version.ts';

/**
 * An invented step: the field `progress` of a Run is named `said`. The release before wrote both and read either; this one writes and reads
 * only `said`, so that the runs from before both need it.
 */
export const renamesProgress: MigrationStep = {
  does: 'names the progress of a Run "said"',
  kind: 'run',
  isOld: async (client, key) =>
    (await client.hexists(key, 'progress')) === 1 && (await client.hexists(key, 'said')) === 0,
  mend: (client, key) =>
    client.eval(
      `local progress = redis.call('HGET', KEYS[1], 'progress')
if progress then redis.call('HSETNX', KEYS[1], 'said', progress) end`,
      1,
      key,
    ),
};
