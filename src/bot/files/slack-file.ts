import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';

const Announced = z.object({
  id: z.string(),
  name: z.string().nullish().catch(undefined),
  size: z.number().nonnegative().optional().catch(undefined),
  url_private: z.string().optional().catch(undefined),
  mode: z.string().optional().catch(undefined),
  is_external: z.boolean().optional().catch(undefined),
});

const Stored = z.object({
  id: z.string(),
  name: z.string(),
  /** The size that Slack announces; nothing relies on it. */
  size: z.number().optional(),
  /** Slack's address of the bytes; without one, Slack has to be asked. */
  url: z.string().optional(),
  /** Why there is nothing to download. */
  absent: z.enum(['deleted', 'external']).optional(),
});

/** A file of a Slack message, reduced to what a reader needs. */
export type SlackFile = Readonly<z.infer<typeof Stored>>;

/** The longest list that is looked at; Slack sends at most ten files with a message. */
const MAX_FILES = 20;

/** Reads the files of a message as Slack sends it; one that cannot be read is left out. */
export function readSlackFiles(files: unknown): readonly SlackFile[] {
  if (!Array.isArray(files)) return [];
  return files.slice(0, MAX_FILES).flatMap((file: unknown) => readSlackFile(file) ?? []);
}

/** Reads one file as Slack describes it. A file of another organisation comes without its address. */
export function readSlackFile(file: unknown): SlackFile | undefined {
  const { data } = Announced.safeParse(file);
  if (data === undefined) return undefined;
  const { id, name, size, url_private: url, mode, is_external: isExternal } = data;
  const isGone = mode === 'tombstone' || mode === 'hidden_by_limit';
  return {
    id,
    name: name ?? 'file',
    ...(size !== undefined && { size }),
    ...(url !== undefined && { url }),
    ...(isGone && { absent: 'deleted' as const }),
    ...(isExternal === true && { absent: 'external' as const }),
  };
}

/** Reads the files of an inbox item; an item of an older version has none. */
export function filesOf({ files }: JsonObject): readonly SlackFile[] {
  return z.array(Stored).catch([]).parse(files);
}
