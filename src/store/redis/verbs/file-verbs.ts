import type { KeptFile, Store } from '../../port/store.ts';
import { isThreadId, type Keys } from '../../record/keys.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';

type FileVerbs = Pick<Store, 'writeFile' | 'readFiles'>;

/** The most that a thread keeps, as it is stored; a file is stored in base64, behind its type. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The verbs of the files of a thread; they leave Redis with their thread. */
export function fileVerbs(
  run: RunScript,
  client: RedisClient,
  keys: Keys,
  mostBytes = MOST_BYTES,
): FileVerbs {
  return {
    async writeFile(threadId, id, file) {
      if (!isThreadId(threadId)) return 'unknown-thread';
      const text = file === undefined ? '' : `${file.type} ${Buffer.from(file.bytes).toString('base64')}`;
      const reply = new ScriptReply(await run('write-file', { threadId, args: [id, text, mostBytes] }));
      return reply.oneOf('written', 'unknown-thread', 'full');
    },

    async readFiles(threadId, ids) {
      if (!isThreadId(threadId) || ids.length === 0) return [];
      const stored = await client.hmget(keys.files(threadId), ...ids);
      return ids.flatMap((id, index): KeptFile[] => {
        const text = stored[index] ?? undefined;
        if (text === undefined) return [];
        const end = text.indexOf(' ');
        return [{ id, type: text.slice(0, end), bytes: Buffer.from(text.slice(end + 1), 'base64') }];
      });
    },
  };
}
