import { z } from 'zod';
import { createClient } from './client.ts';
import type { ClientOptions } from './client-options.ts';

const ListedModel = z.object({ id: z.string(), shutdown_date: z.string().nullish().catch(undefined) });
/** A model as its provider lists it. */
export interface ListedModel {
  readonly id: string;
  /** The day on which it ends, if the provider names one. */
  readonly endsOn: string | undefined;
}

/** Lists the models of a provider; `undefined` if it has no list, or one that does not name what is asked for, as at Azure. */
export async function listModels(options: ClientOptions): Promise<readonly ListedModel[] | undefined> {
  const client = createClient(options);
  if (/\.azure\.(?:com|us|cn)$/.test(new URL(client.baseURL).hostname)) return undefined;
  try {
    const { data } = await client.models.list();
    const listed = data.flatMap((model) => ListedModel.safeParse(model).data ?? []);
    if (listed.length === 0) return undefined;
    // Gemini puts "models/" before its names.
    return listed.map(({ id, shutdown_date: date }) => ({
      id: id.replace(/^models\//, ''),
      endsOn: date ?? undefined,
    }));
  } catch {
    return undefined;
  }
}
