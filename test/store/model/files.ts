import type { KeptFile } from '../../../src/store/port/store.ts';
import type { Verbs, World } from './world.ts';

/** The most bytes that a thread keeps in the comparison, few enough that some files find no room. */
export const MOST_FILE_BYTES = 100;

/** A thread keeps each file once, as long as there is room, until it is dropped or the thread is gone. */
export function fileModel(world: World): Pick<Verbs, 'keepFile' | 'readFiles' | 'dropFile'> {
  return {
    keepFile(threadId, file) {
      const files = world.thread(threadId)?.files;
      if (files === undefined) return { outcome: 'unknown-thread' };
      if (files.has(file.id)) return { outcome: 'kept' };
      if ([...files.values(), file].reduce((sum, each) => sum + storedBytes(each), 0) > MOST_FILE_BYTES)
        return { outcome: 'full' };
      files.set(file.id, file);
      return { outcome: 'kept' };
    },

    readFiles(threadId, ids) {
      return ids.flatMap((id) => world.thread(threadId)?.files.get(id) ?? []);
    },

    dropFile(threadId, id) {
      world.thread(threadId)?.files.delete(id);
    },
  };
}

function storedBytes({ type, bytes }: KeptFile): number {
  return type.length + 1 + Math.ceil(bytes.length / 3) * 4;
}
