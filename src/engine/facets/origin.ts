import { z } from 'zod';
import { toJson } from '../../agent/json.ts';
import { ReadFile } from '../read-files.ts';
import type { Facet } from './facet.ts';

const Why = z.string().min(1).optional().catch(undefined);

/** The explanation of the model, or of a caller, beside the call. */
export const why = {
  name: 'why',
  schema: Why,
  prepare: ({ origin }) => (origin.why === '' ? undefined : origin.why),
} satisfies Facet<'why', z.infer<typeof Why>>;

/** The link to the job of the caller that asks. */
export const link = {
  name: 'link',
  schema: z.url({ protocol: /^https$/ }),
  prepare: ({ origin }) => origin.link,
} satisfies Facet<'link', string>;

/** The people whose words the model read beside the requesters'. */
export const context = {
  name: 'context',
  schema: z.array(z.string()).readonly(),
  prepare: ({ origin: { contextAuthors } }) => (contextAuthors.length === 0 ? undefined : contextAuthors),
  digested: (kept = []) => ({ context_authors: kept }),
  auditFields: ({ origin: { contextAuthors } }) =>
    contextAuthors.length === 0 ? {} : { context_authors: [...contextAuthors] },
} satisfies Facet<'context', readonly string[]>;

/** The files that the model read for the task, with the hash of what it saw. */
export const files = {
  name: 'files',
  schema: z.array(ReadFile).readonly(),
  prepare: ({ origin }) => (origin.files.length === 0 ? undefined : origin.files),
  digested: (kept) => ({ files: kept && toJson(kept) }),
  auditFields: ({ origin }) => (origin.files.length === 0 ? {} : { files: toJson(origin.files) }),
} satisfies Facet<'files', readonly ReadFile[]>;

const Undoes = z.object({ requestId: z.string(), title: z.string() });

/** The action that a call takes back. */
export const undoes = {
  name: 'undoes',
  schema: Undoes,
  prepare: ({ origin }) => origin.undoes,
  digested: (kept) => ({ undoes: kept?.requestId }),
  auditFields: (_asked, kept) => (kept === undefined ? {} : { undoes: kept.requestId }),
} satisfies Facet<'undoes', z.infer<typeof Undoes>>;
