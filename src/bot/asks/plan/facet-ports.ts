import type { FacetPorts } from '../../../engine/facets/facet.ts';
import { cardTexts, ruleInWords } from '../../views/texts/cards.ts';
import { grantTexts } from '../../views/texts/grants.ts';
import { statusesOf } from './people-to-ask.ts';
import type { PlanContext } from './plan-context.ts';

/** Gives facets the workspace, and the words that a request keeps. */
export function facetPorts({ store, directory }: Pick<PlanContext, 'store' | 'directory'>): FacetPorts {
  return {
    store,
    statusesOf: (people) => statusesOf(directory.relaxed(), people),
    words: {
      none: cardTexts.none,
      anyOf: grantTexts.any,
      anyOther: grantTexts.anyOther,
      whyAsked: ({ rule, because, overLimit }, asked) =>
        ruleInWords({ rule, because, isOverLimit: overLimit === true }, asked),
    },
  };
}
