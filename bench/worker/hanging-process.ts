import { z } from 'zod';
import { openOurs } from '../turn/ours.ts';
import { tell, tellUsage } from './tell-usage.ts';

/*
 * A worker with no bounds: it begins as many turns at once as it is told, and a model that never answers holds them all. The bot
 * itself begins so many at a time and leaves the others in Redis, so that this is what it is spared.
 */
const Begin = z.object({ kind: z.literal('begin'), ids: z.array(z.string()) });
const [redisUrl = '', modelUrl = ''] = process.argv.slice(2);
const side = openOurs({ redisUrl, modelUrl, tools: 1 });

process.on('message', (message) => {
  const begun = Begin.safeParse(message);
  if (!begun.success) return;
  for (const threadId of begun.data.ids) void side.pause(threadId).catch(() => {});
});
tellUsage();
tell({ kind: 'ready' });
