import { z } from 'zod';
import type { Facet } from './facet.ts';

const Description = z.string().min(1).optional().catch(undefined);

/** The description of the tool. */
export const description = {
  name: 'description',
  schema: Description,
  prepare: ({ entry }) => entry?.tool.description,
} satisfies Facet<'description', z.infer<typeof Description>>;
