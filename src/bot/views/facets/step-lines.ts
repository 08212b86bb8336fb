import type { KnownBlock } from '@slack/types';
import { type FacetName, type KeptFacets, readFacets } from '../../../engine/facets/facets.ts';
import type { PlannedSteps } from '../../../engine/planned-steps.ts';
import { limits } from '../../slack/limits.ts';
import { context, mentions } from '../cards/card.ts';
import { cardTexts } from '../texts/cards.ts';
import { connectionTexts } from '../texts/connections.ts';
import { words } from '../texts/format.ts';
import { showLabel } from '../texts/show-text.ts';
import { isWholePreview, previewBlocks } from './preview-lines.ts';

type Step = PlannedSteps['steps'][number];

/** The lines of a facet at a call, by itself or as a step of a plan: beside its arguments, or what it changes. */
interface CallLines<Kept> {
  readonly level: 'notes' | 'change';
  draw(kept: Kept): KnownBlock[];
  /** Tells whether the lines show all of it. */
  isWhole?(kept: Kept): boolean;
}

/** Lists the facets that a card shows of a call and of each step of a plan, in order. */
export const CALL_LINES = {
  /** Says in whose name the call runs, if it is a person's. */
  runsAs: {
    level: 'notes',
    draw: ({ person, server }) => [
      context(words(connectionTexts.runsAs(showLabel(server, limits.label))), ...mentions([person])),
    ],
  },
  /** Says that answers to the call's server will need no approval; by default they need it. */
  answers: {
    level: 'notes',
    draw: (kept) => (kept === 'free' ? [context(words(cardTexts.answers.free))] : []),
  },
  /** Says for whom, or for what, the call is a first one on record. */
  first: {
    level: 'notes',
    draw: ({ act: verb, of, isTarget, byTool, byPair, days }) => {
      const act = showLabel(verb, limits.label);
      const target = cardTexts.thisTarget(showLabel(of ?? cardTexts.target, limits.label));
      const within = words(cardTexts.inDays(days));
      const parts = [
        ...(isTarget === true ? [[words(cardTexts.firstFor(act, target)), within]] : []),
        ...(byTool.length > 0
          ? [[words(cardTexts.firstUse(days)), ...mentions(byTool), words(cardTexts.uses(act))]]
          : []),
        ...(byPair.length > 0 && byTool.length === 0
          ? [[words(cardTexts.firstBy(`${act} ${target}`)), ...mentions(byPair), within]]
          : []),
      ];
      const told = parts.flatMap((part, index) => (index === 0 ? part : [words(' · '), ...part]));
      return [context(words('🆕 '), ...told)];
    },
  },
  preview: { level: 'change', draw: previewBlocks, isWhole: isWholePreview },
} satisfies { [Name in FacetName]?: CallLines<NonNullable<KeptFacets[Name]>> };

const ALL: Readonly<Partial<Record<FacetName, CallLines<unknown>>>> = CALL_LINES;

/** Draws the lines of a step at one level. */
export function stepLines(step: Step, level: CallLines<unknown>['level']): KnownBlock[] {
  return linesIn(step).flatMap(([lines, kept]) => (lines.level === level ? lines.draw(kept) : []));
}

/** Tells whether the lines of a step show all of it. */
export function isWholeStep(step: Step): boolean {
  return linesIn(step).every(([lines, kept]) => lines.isWhole?.(kept) !== false);
}

function linesIn(step: Step): (readonly [CallLines<unknown>, unknown])[] {
  const kept: Readonly<Record<string, unknown>> = readFacets(step);
  return Object.entries(ALL).flatMap(([name, lines]) =>
    kept[name] === undefined ? [] : [[lines, kept[name]] as const],
  );
}
