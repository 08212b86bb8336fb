import type { KnownBlock } from '@slack/types';
import { FACETS, type FacetName, type KeptFacets } from '../../../engine/facets/facets.ts';
import type { ReadFile } from '../../../engine/read-files.ts';
import { sizeText } from '../../../engine/turns/files/file-texts.ts';
import { limitSizeInWords } from '../../../policy/limits.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { limits } from '../../slack/limits.ts';
import { TITLE_LENGTH } from '../cards/call-body.ts';
import { type CardOptions, callersIn, context, line, mentions, quoted } from '../cards/card.ts';
import type { CardDetails } from '../cards/card-details.ts';
import { type CardLines, joinLines } from '../cards/layout.ts';
import { buildOwnQuestion, choiceLines } from '../cards/own-question.ts';
import { renderValue } from '../cards/render-value.ts';
import { cardTexts, ruleInWords } from '../texts/cards.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { mention, moment, words } from '../texts/format.ts';
import { freezeTexts } from '../texts/freezes.ts';
import { modalTexts } from '../texts/modals.ts';
import { passkeyTexts } from '../texts/passkeys.ts';
import { planTexts } from '../texts/plans.ts';
import { cut, quoteText, showLabel, showLine, showText } from '../texts/show-text.ts';
import { onceRunText, rejectionText, reviewLines } from './approver-lines.ts';
import { beforeLines, coverText, stepBlocks } from './plan-lines.ts';
import { CALL_LINES } from './step-lines.ts';

/** A request that is drawn, with its facets. */
export interface Shown {
  readonly request: RequestRecord;
  readonly details: CardDetails;
  readonly options: CardOptions;
}

/** A labelled text of Details that may span several pages. */
export interface Piece {
  readonly label: string;
  readonly text: string;
}

/** The view of one facet. Each part may be missing. */
interface FacetView {
  /** Draws its lines on the card of a request that waits. */
  readonly lines?: (shown: Shown) => CardLines;
  /** Tells whether the card shows all of it, so that people may approve there. */
  readonly isWhole?: (shown: Shown) => boolean;
  /** Lists its texts in Details, whole. */
  readonly pieces?: (details: CardDetails) => readonly Piece[];
}

const SINCE_CHARACTERS = 200;

/** The views of all facets. */
const VIEWS: Readonly<Record<FacetName, FacetView>> = {
  question: {
    lines: ({ request, details }) => ({
      notes: [...buildOwnQuestion(details).blocks, ...choiceLines(request, details)],
    }),
    isWhole: ({ details }) => buildOwnQuestion(details).isWhole,
  },
  review: {
    lines: ofNow('review', ({ who }) => ({ notes: [context(words(cardTexts.reviewedBy), mention(who))] })),
  },
  since: {
    lines: ofNow('since', ({ who, text, before }, { options: { view } }) => {
      // A channel that is only told of it does not read the thread.
      if (view === 'announcement') return {};
      const quote = quoteText(cut(text.replaceAll(/\s+/g, ' ').trim(), SINCE_CHARACTERS));
      const told = words(`${quote}${cardTexts.wroteBefore(before)}`);
      return { notes: [line(words('💬 '), mention(who), words(cardTexts.wroteSince), told)] };
    }),
  },
  delegation: {
    lines: ofNow('delegation', (who) => ({
      notes: [context(words(delegationTexts.askedFor), ...mentions([who]))],
    })),
  },
  runsAs: { lines: ofCall('runsAs') },
  answer: {
    lines: ({ details: { answer } }) =>
      answer === undefined ? {} : { notes: [context(words(cardTexts.answered), ...mentions(answer.by))] },
  },
  answers: { lines: ofCall('answers') },
  undoes: {
    lines: ofKept('undoes', ({ title }) =>
      title === '' ? {} : { notes: [line(words(cardTexts.undoes(showLabel(title, TITLE_LENGTH))))] },
    ),
  },
  first: { lines: ofCall('first') },
  passkey: {
    lines: ({ request: { policy }, options: { shown } }) => {
      if (policy.passkey !== true) return {};
      const keyed = shown?.passkey ?? policy.quorum;
      const few = context(words(passkeyTexts.fewKeys(keyed, policy.quorum)));
      return { notes: [context(words(passkeyTexts.onCard)), ...(keyed < policy.quorum ? [few] : [])] };
    },
  },
  freeze: {
    lines: ofNow('freeze', (freeze) => ({
      notes: [line(words(showLabel(freezeTexts.onCard(freeze), limits.quoteCharacters)))],
    })),
  },
  quiet: {
    // Until then only people who look into the thread know of the request.
    lines: ofNow('quiet', (until, { options: { view } }) =>
      view === 'thread' ? { notes: [context(words(cardTexts.quietHours), moment(until), words('.'))] } : {},
    ),
  },
  description: {
    // It helps only where nobody has written a title.
    lines: ofKept('description', (text, { details: { presented } }) =>
      presented.hasTitle || text.trim() === ''
        ? {}
        : { notes: [line(words(cardTexts.description(showLabel(text, limits.description))))] },
    ),
  },
  inner: {},
  edit: {
    pieces: ({ originalInput }) =>
      originalInput === undefined
        ? []
        : [{ label: modalTexts.original, text: renderValue(originalInput).text }],
  },
  plan: {
    lines: ofKept('plan', (plan, { request, details }) => ({
      notes: [context(words(coverText(plan, request)))],
      call: [...beforeLines(plan), ...stepBlocks(plan.steps, request.steps ?? []).blocks],
      origin: [...goalLines(request, plan.goal), ...callerLink(request, details)],
      last: [context(words(planTexts.rules))],
    })),
  },
  limits: {
    lines: ofKept('limits', ({ steps, limit }, { details: { facets } }) => {
      const covered = (facets.plan?.steps ?? []).filter(({ alone }) => !alone).length;
      const size = limitSizeInWords({ ...limit, sum: limit.sum });
      return { call: [line(words(planTexts.fits(steps, covered, size), { bold: true }))] };
    }),
  },
  preview: {
    lines: ofCall('preview'),
    pieces: ({ facets: { preview = {} } }) => {
      const { current, former } = preview;
      const sides = current?.outcome === 'shown' ? current : undefined;
      return [
        { label: modalTexts.previewBefore, text: showText(sides?.before ?? '') },
        { label: modalTexts.previewAfter, text: showText(sides?.after ?? '') },
        { label: modalTexts.previousBefore, text: showText(former?.before ?? '') },
        { label: modalTexts.previousAfter, text: showText(former?.after ?? '') },
      ];
    },
  },
  reason: {
    lines: ({ request, details }) => ({ why: [whyLine(request, details)] }),
  },
  why: {
    lines: ofKept('why', (why, shown) => explanation(why, shown)),
    pieces: ({ facets: { why = '' } }) => [{ label: modalTexts.explanation, text: showText(why) }],
  },
  link: {
    // A plan links beside its goal.
    lines: ({ request, details }) =>
      details.facets.plan === undefined ? { origin: callerLink(request, details) } : {},
  },
  approvers: { lines: ({ request }) => ({ head: reviewLines(request) }) },
  undo: { lines: ({ details }) => ({ last: [context(words(onceRunText(details)))] }) },
  grants: {},
  context: {},
  files: {
    pieces: ({ facets: { files = [] } }) => [
      { label: modalTexts.files, text: files.map(fileLine).join('\n') },
    ],
  },
};

/** Draws the lines of all facets, in their order. */
export function facetLines(shown: Shown): Required<CardLines> {
  return joinLines(FACETS.map(({ name }) => VIEWS[name].lines?.(shown) ?? {}));
}

/** Tells whether the card shows all of each facet. */
export function areWhole(shown: Shown): boolean {
  return FACETS.every(({ name }) => VIEWS[name].isWhole?.(shown) !== false);
}

/** Lists the texts of all facets in Details, in their order. */
export function facetPieces(details: CardDetails): readonly Piece[] {
  return FACETS.flatMap(({ name }) => VIEWS[name].pieces?.(details) ?? []);
}

/** Draws what a request keeps of a facet. */
function ofKept<Name extends FacetName>(
  name: Name,
  draw: (kept: NonNullable<KeptFacets[Name]>, shown: Shown) => CardLines,
): (shown: Shown) => CardLines {
  return (shown) => {
    const kept = shown.details.facets[name];
    return kept === undefined || kept === null ? {} : draw(kept, shown);
  };
}

/** Draws what a facet shows now. */
function ofNow<Name extends FacetName>(
  name: Name,
  draw: (now: NonNullable<NonNullable<CardOptions['shown']>[Name]>, shown: Shown) => CardLines,
): (shown: Shown) => CardLines {
  return (shown) => {
    const now = shown.options.shown?.[name];
    return now === undefined || now === null ? {} : draw(now, shown);
  };
}

/** Draws a facet of a call as a step of a plan shows it too. */
function ofCall<Name extends keyof typeof CALL_LINES>(name: Name): (shown: Shown) => CardLines {
  const { level, draw }: { level: 'notes' | 'change'; draw(kept: unknown): KnownBlock[] } = CALL_LINES[name];
  return ofKept(name, (kept) => ({ [level]: draw(kept) }));
}

/** Says why people are asked, unless the tool's own question does, and what a rejection means. */
export function whyLine(request: RequestRecord, details: CardDetails): KnownBlock {
  const isAsked = buildOwnQuestion(details).blocks.length > 0;
  const why = whyApproval(details);
  const told = isAsked ? [] : [words(cardTexts.why), words(why), words(/[.!?…]$/.test(why) ? ' ' : '. ')];
  const rejected = rejectionText(request, details.name);
  // A plan has the reasons of all its steps.
  if (details.facets.plan !== undefined) return context(...rejected, words(' '), ...told);
  return context(...told, ...rejected);
}

/** Says in words why people are asked. */
export function whyApproval({ facets: { reason }, rule, isOverLimit, name }: CardDetails): string {
  const words = reason?.because ?? ruleInWords({ rule, isOverLimit }, { act: readableName(name) });
  return showLabel(words, limits.quoteCharacters);
}

/**
 * Quotes the model beside the copies of a card; in the thread its words are the message above, and a plan has its goal. A caller has no
 * other message. On high risk nothing of either is shown.
 */
function explanation(
  why: string,
  { request: { requesters }, details: { policy, facets }, options: { view } }: Shown,
): CardLines {
  const [caller] = callersIn(requesters);
  const isAbove = view === 'thread' && caller === undefined;
  if (facets.plan !== undefined || policy?.risk === 'high' || isAbove) return {};
  const label = caller === undefined ? cardTexts.explanation : cardTexts.callerExplanation(caller);
  return { origin: [quoted(label, why, { characters: limits.quoteCharacters, lines: 2 })] };
}

/** Links to the job of a caller, with the whole address to read. The manifest allows its host. */
function callerLink({ requesters }: RequestRecord, { facets: { link } }: CardDetails): KnownBlock[] {
  const [caller] = callersIn(requesters);
  if (link === undefined || caller === undefined) return [];
  return [line(words(cardTexts.callerLink(caller)), { type: 'link', url: link, text: showLine(link) })];
}

/** Quotes what a plan is for. */
function goalLines({ requesters }: RequestRecord, goal: string): KnownBlock[] {
  const [caller] = callersIn(requesters);
  const label = caller === undefined ? planTexts.goal : planTexts.callerGoal(caller);
  return [quoted(label, goal, { characters: limits.quoteCharacters, lines: 3 })];
}

function fileLine({ name, type, size, sha256 }: ReadFile): string {
  const facts = [type, size === undefined ? undefined : sizeText(size)].filter((fact) => fact !== undefined);
  return `${showLabel(name, limits.label)} (${facts.join(', ')}), sha256 ${sha256}`;
}
