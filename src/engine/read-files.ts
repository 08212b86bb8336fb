import { z } from 'zod';
import type { Message } from '../agent/messages.ts';

/** A file that the model read, with the hash of what it saw. */
export const ReadFile = z.object({
  name: z.string(),
  type: z.string().optional(),
  size: z.number().optional(),
  sha256: z.string(),
});
export type ReadFile = Readonly<z.infer<typeof ReadFile>>;

/** Lists the files that the model read for the present task; one that was only named has no hash. */
export function filesReadIn(messages: readonly Message[]): readonly ReadFile[] {
  return messages.flatMap((message) => {
    const file = message.role === 'user' ? message.metadata?.file : undefined;
    const { data } = file === undefined ? {} : ReadFile.safeParse(file);
    return data === undefined ? [] : [data];
  });
}
