import type { KeptFile } from '../../../src/store/port/values.ts';
import type { Verbs, World } from './world.ts';

/** The most bytes that a thread keeps in the comparison, few enough that some files find no room. */
export const MOST_FILE_BYTES = 100;

/** A thread keeps each file once, as long as there is room, until it is dropped or the thread is gone. */
export function fileModel(world: World): Pick<Verbs, 'writeFile' | 'readFiles'> {
  return {
    writeFile(threadId, id, content) {
      const files = world.thread(threadId)?.files;
      if (files === undefined) return 'unknown-thread';
      if (content === undefined) files.delete(id);
      if (content === undefined || files.has(id)) return 'written';
      const file = { id, ...content };
      if ([...files.values(), file].reduce((sum, each) => sum + storedBytes(each), 0) > MOST_FILE_BYTES)
        return 'full';
      files.set(id, file);
      return 'written';
    },

    readFiles(threadId, ids) {
      return ids.flatMap((id) => world.thread(threadId)?.files.get(id) ?? []);
    },
  };
}

function storedBytes({ type, bytes }: KeptFile): number {
  return type.length + 1 + Math.ceil(bytes.length / 3) * 4;
}
