import { z } from 'zod';
import { type JsonObject, type PartialJson, toJson } from '../../agent/json.ts';
import type { Interrupt } from '../../agent/messages.ts';
import { answer, answers } from './answers.ts';
import { approvers } from './approvers.ts';
import { delegation } from './delegation.ts';
import { description } from './description.ts';
import { edit } from './edit.ts';
import type { AskedCall, DrawingPorts, DrawnRequest, Facet, FacetPorts } from './facet.ts';
import { first } from './first-times.ts';
import { grants } from './grants.ts';
import { freeze, quiet } from './holds.ts';
import { inner } from './inner.ts';
import { limits } from './limits.ts';
import { context, files, link, undoes, why } from './origin.ts';
import { passkey } from './passkey.ts';
import { plan } from './plan.ts';
import { preview } from './preview.ts';
import { question } from './question.ts';
import { reason } from './reason.ts';
import { review } from './review.ts';
import { runsAs } from './run-as.ts';
import { since } from './since.ts';
import { undo } from './undo.ts';

/** Lists what features add to a request, in the order in which cards show it. */
export const FACETS = [
  question,
  review,
  since,
  delegation,
  runsAs,
  answer,
  answers,
  undoes,
  first,
  passkey,
  freeze,
  quiet,
  description,
  inner,
  edit,
  plan,
  limits,
  preview,
  reason,
  why,
  link,
  approvers,
  undo,
  grants,
  context,
  files,
] as const;

type AnyFacet = (typeof FACETS)[number];
export type FacetName = AnyFacet['name'];

/** What a request keeps of each feature. */
export type KeptFacets = {
  readonly [Each in AnyFacet as Each['name']]?: z.output<Each['schema']> | undefined;
};

type ShownOf<Each> = Each extends { readonly readNow: (...given: never[]) => infer Shown }
  ? Awaited<Shown>
  : never;

/** What a card shows of each feature that changes while the request waits. */
export type ShownFacets = { readonly [Each in AnyFacet as Each['name']]?: ShownOf<Each> | undefined };

const ALL: readonly Facet<FacetName, unknown, unknown>[] = FACETS;

const schemas = Object.fromEntries(ALL.map(({ name, schema }) => [name, schema.optional()]));

/** Parses what a request keeps, each facet by its own schema. */
export const KeptFacets = z.object(schemas).transform((kept): KeptFacets => kept);

/** Prepares facets of a request; `names` leaves out the others. */
export async function prepareFacets(
  asked: AskedCall,
  ports: FacetPorts,
  names?: readonly FacetName[],
): Promise<KeptFacets> {
  const wanted = names === undefined ? ALL : ALL.filter(({ name }) => names.includes(name));
  const kept = await Promise.all(
    wanted.map(async (facet) => [facet.name, await facet.prepare?.(asked, ports)] as const),
  );
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}

/** Lists the parts that facets add to the digest of a request, by name. */
export function digestedFacets(
  kept: Readonly<Record<string, unknown>>,
  interrupt: Interrupt,
): readonly { readonly name: string; readonly value: PartialJson | undefined }[] {
  return ALL.flatMap((facet) => Object.entries(facet.digested?.(kept[facet.name], interrupt) ?? {})).map(
    ([name, value]) => ({ name, value }),
  );
}

/** Joins the fields that facets add to the audit row of a request. */
export function auditedFacets(asked: AskedCall, kept: Readonly<Record<string, unknown>>): JsonObject {
  return Object.assign({}, ...ALL.map((facet) => facet.auditFields?.(asked, kept[facet.name])));
}

/** Returns the facets of a request that the card of its plan shows. */
export function facetsOfStep(kept: Readonly<Record<string, unknown>>): JsonObject {
  const names = ALL.filter(({ isOfStep }) => isOfStep === true).map(({ name }) => name);
  return Object.fromEntries(
    names.flatMap((name) => (kept[name] === undefined ? [] : [[name, toJson(kept[name])]])),
  );
}

/** Reads the facets of a step, as its plan keeps them. */
export function readFacets({ facets }: { readonly facets: JsonObject }): KeptFacets {
  return KeptFacets.parse(facets);
}

/** Reads what the card of a request shows now beside what is kept with it. */
export async function readShown(
  drawn: Omit<DrawnRequest<unknown>, 'kept'>,
  kept: Readonly<Record<string, unknown>>,
  ports: DrawingPorts,
): Promise<ShownFacets> {
  const shown: [FacetName, unknown][] = [];
  for (const facet of ALL) {
    const value = await facet.readNow?.({ ...drawn, kept: kept[facet.name] }, ports);
    if (value !== undefined) shown.push([facet.name, value]);
  }
  return Object.fromEntries(shown);
}
