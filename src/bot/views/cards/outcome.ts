import type { Button, KnownBlock, RichTextElement } from '@slack/types';
import { wordsInVotes } from '../../../engine/approvals.ts';
import { mayRunOnceMore } from '../../../engine/asks/after-end.ts';
import { grantIdOf } from '../../../engine/grant-evidence.ts';
import { pausedIn, resultProblemIn, unansweredIn } from '../../../engine/paused.ts';
import { doubtIn, readReason } from '../../../engine/reasons.ts';
import { readDetails } from '../../../engine/request-details.ts';
import { type RequestRecord, resolutionOf } from '../../../store/port/request-record.ts';
import { wasApprovedBefore } from '../../../tools/gate.ts';
import { consentOf } from '../../../tools/mcp/auth/ask-for-consent.ts';
import { type Elicitation, elicitationOf, parseAnswerValue } from '../../../tools/mcp/server-pause.ts';
import { POLICY_CHANGE_TOOL } from '../../../tools/toolbox/policy-change.ts';
import { limits } from '../../slack/limits.ts';
import { callerTexts } from '../texts/callers.ts';
import { cardTexts, confirmTexts, stateWord, VERDICT } from '../texts/cards.ts';
import { connectionTexts } from '../texts/connections.ts';
import { mention, moment, words } from '../texts/format.ts';
import { freezeTexts } from '../texts/freezes.ts';
import { grantTexts } from '../texts/grants.ts';
import { reasonTexts } from '../texts/reasons.ts';
import { cut, escapeMarkup, quoteText, showLabel, showLine } from '../texts/show-text.ts';
import { ASK_AGAIN, DETAILS, DID_NOT_RUN, RAN, REVOKE, RUN_AGAIN, UNDO, WITHDRAW } from './action-ids.ts';
import {
  button,
  type Card,
  type CardOptions,
  callersIn,
  line,
  linkParts,
  mentions,
  plain,
  quoted,
  quoteParts,
  requesterNames,
} from './card.ts';
import { plainPayload, stateOf, titleOf } from './card-details.ts';
import { plainValue } from './render-value.ts';

/** Builds the end of a decided request: what happened, who, when, and what can still be done. */
export function buildOutcome(request: RequestRecord, options: CardOptions): KnownBlock[] {
  const { lines, quote } = endOf(request, options);
  const votes = votesBy(request, 'approve');
  return [
    ...lines.map((elements) => line(...elements)),
    ...(votes.length === 0 ? [] : [line(words(cardTexts.approvedBy), ...votes)]),
    ...wordsOfVotes(request).map((elements) => line(...elements)),
    ...(quote === undefined ? [] : ifAny(quote.label, quote.text)),
    ...undoLine(request),
    ...grantLine(request, options),
    ...actionsOf(request, options),
  ];
}

/** Builds an approval that has ended: the action, struck through if it did not run, and below it who, what and when. */
export function buildSettled(
  request: RequestRecord,
  {
    icon,
    title,
    end,
  }: { readonly icon: string; readonly title: string; readonly end?: RichTextElement[] | undefined },
  options: CardOptions,
): KnownBlock[] {
  const { lines, quote }: End = end === undefined ? endOf(request, options) : { lines: [end] };
  const [first = [], ...others] = lines;
  const asked = askedBy(request, readDetails(request)?.facets.edit?.by);
  const who = [...asked, ...approvedBy(request)];
  // What is known of an unknown outcome, and what to do, have lines of their own.
  const below = [
    ...(request.state === 'unknown' ? [who, first] : [[...who, words(' · '), ...first]]),
    ...others,
    ...wordsOfVotes(request),
  ];
  return [
    {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_section',
          elements: [
            words(`${icon} `),
            words(title, isStruck(request) ? { strike: true } : { bold: true }),
            ...below.flatMap((elements) => [words('\n'), ...elements]),
          ],
        },
        ...(quote === undefined || quote.text.trim() === '' ? [] : quoteParts(quote.text)),
      ],
    },
    ...undoLine(request),
    ...grantLine(request, options),
    ...actionsOf(request, options),
  ];
}

/**
 * Builds what a copy in direct messages keeps of an approval that has ended: one line, and what its reader can still do. The card in the
 * thread has the rest.
 */
export function buildEndedCopy(request: RequestRecord, options: CardOptions): Card {
  const revokedBy = options.shown?.grants;
  const { icon, word } = stateOf(request);
  const done = doneTitle(request);
  const title = done === undefined ? titleOf(request) : showLabel(done, limits.label);
  const rejecter = request.state === 'rejected' ? [words(` · ${cardTexts.rejected}`), ...by(request)] : [];
  const actions = [
    ...(undoUntil(request).length > 0 ? [button(request.id, UNDO, cardTexts.undo)] : []),
    ...(request.granted && revokedBy === undefined
      ? [button(grantIdOf(request.id), REVOKE, grantTexts.revoke)]
      : []),
  ];
  const lead = done === undefined ? `${icon} ${word}: ` : `${icon} `;
  return {
    text: escapeMarkup(`${word}: ${title}`),
    blocks: [
      line(
        words(lead),
        words(title, isStruck(request) ? { strike: true } : { bold: true }),
        ...approvedBy(request),
        ...rejecter,
        ...linkParts(options),
      ),
      ...(actions.length === 0 ? [] : [{ type: 'actions' as const, elements: actions }]),
    ],
  };
}

/** Tells whether a request is about a change of the rules. Nobody in Slack has asked for it. */
export function isPolicyChange(request: RequestRecord): boolean {
  return readDetails(request)?.interrupt.toolRequest.name === POLICY_CHANGE_TOOL;
}

/** Says in one line how a request ended, by whom and when; of one that goes on, its state. */
export function endLine(request: RequestRecord): RichTextElement[] {
  const { state } = request;
  const { word } = stateOf(request);
  const approved = approvedBy(request).slice(1);
  const at = request.settledAt === undefined ? [] : [words(' · '), ...when(request)];
  if (state === 'rejected') return [words(cardTexts.rejected), ...by(request), ...at];
  if (state === 'withdrawn') return [words(cardTexts.withdrawn), ...by(request), ...at];
  if (isDone(request) && approved.length > 0) return [words(cardTexts.approvedLead), ...approved, ...at];
  if (state === 'answered') return [words(cardTexts.answered), ...by(request), ...at];
  return [words(word), ...at];
}

/** Names who asked, and apart from them who edited it. */
export function askedBy(request: RequestRecord, editor: string | undefined): RichTextElement[] {
  const { requesters } = request;
  if (isPolicyChange(request)) return [words(cardTexts.changedOnServer)];
  const others = requesters.filter((id) => id !== editor);
  return [
    words(cardTexts.askedBy),
    ...requesterNames(others.length === 0 ? requesters : others),
    ...(editor === undefined ? [] : [words(cardTexts.editedSince), mention(editor)]),
  ];
}

/** Tells whether it is known that nothing is left of an action: it did not run, or was undone. */
function isStruck(request: RequestRecord): boolean {
  const { state } = request;
  if (request.undo?.isDone === true) return true;
  // A plan that stopped has run in part.
  if (request.steps?.some((step) => step.state === 'succeeded' || step.state === 'ran')) return false;
  if (state === 'resolved') return resolutionOf(request.payload).verdict === 'did-not-run';
  return ['rejected', 'expired', 'withdrawn', 'superseded', 'failed'].includes(state);
}

/** The end of a request: lines of ours, and words of somebody else. */
interface End {
  readonly lines: readonly RichTextElement[][];
  readonly quote?: { readonly label: string; readonly text: string };
}

function endOf(request: RequestRecord, { shown }: CardOptions): End {
  const freeze = shown?.freeze;
  const reason = request.payload ?? '';
  const quote = { label: cardTexts.reason, text: reason };
  const caller = callerOf(request);
  switch (request.state) {
    case 'pending':
      return { lines: [] };
    case 'approved': {
      const held = freeze && showLabel(freezeTexts.held(freeze), limits.quoteCharacters);
      const starts = request.step?.alone === true ? cardTexts.waitsInPlan : cardTexts.starting;
      return { lines: [[words(held ?? (caller && callerTexts.waitsFor(caller)) ?? starts)]] };
    }
    case 'started':
      return {
        lines: [
          [words(caller === undefined ? cardTexts.running(request.attempts) : callerTexts.runs(caller))],
        ],
        quote: { label: cardTexts.progress, text: request.progress ?? '' },
      };
    case 'succeeded': {
      const problem = resultProblemIn(request);
      const lines = [[...progressOf(request), ...when(request), ...undoUntil(request)]];
      if (problem === undefined) return { lines };
      return {
        lines: [[words(cardTexts.unusable), ...when(request), ...undoUntil(request)]],
        quote: { label: cardTexts.resultProblem, text: problem },
      };
    }
    case 'paused':
      return { lines: [[...progressOf(request), ...when(request), ...undoUntil(request)]] };
    case 'failed':
      return {
        lines: [[words(cardTexts.failed), ...when(request)]],
        quote: { label: cardTexts.error, text: plainPayload(request) },
      };
    case 'unknown': {
      const doubt = doubtOf(request);
      const known = doubt.lines.with(-1, [...(doubt.lines.at(-1) ?? []), ...lastProgress(request)]);
      const toDo = [
        ...mentions(request.policy.resolvers, undefined, cardTexts.or),
        words(cardTexts.toConfirm),
      ];
      return { ...doubt, lines: [...known, toDo] };
    }
    case 'resolved':
      return {
        lines: [
          [
            words(cardTexts.confirmedBy(VERDICT.get(resolutionOf(request.payload).verdict)?.word)),
            ...by(request),
            words(', '),
            ...when(request),
          ],
        ],
        quote: { ...quote, text: reason.split('\n').slice(1).join('\n') },
      };
    case 'rejected':
      return {
        lines: [
          [
            words(cardTexts.rejected),
            ...by(request),
            ...inPlaceOf(request, request.by ?? ''),
            words(' · '),
            ...when(request),
          ],
        ],
        quote,
      };
    case 'withdrawn':
      return { lines: [[words(cardTexts.withdrawn), ...by(request), words(' · '), ...when(request)]], quote };
    case 'expired':
      return {
        lines: [[words(cardTexts.expired), ...when(request), words(cardTexts.undecided[kindOfEnd(request)])]],
      };
    case 'superseded':
      return replacedBy(request, reason);
    case 'answered':
      return answerOf(request);
  }
}

/** Returns the caller that runs the action itself; `undefined` for any other action. */
function callerOf({ execution, requesters }: RequestRecord): string | undefined {
  const [caller] = execution.elsewhere === true ? callersIn(requesters) : [];
  return caller && showLabel(caller, limits.label);
}

function kindOfEnd({ kind }: RequestRecord): 'approval' | 'answer' {
  return kind === 'approval' ? 'approval' : 'answer';
}

function answerOf(request: RequestRecord): End {
  const asked = serverPauseIn(request);
  const answer = asked && parseAnswerValue(request.payload);
  const details = readDetails(request);
  const tail = [...by(request), words(', '), ...when(request)];
  if (details !== undefined && consentOf(details.interrupt) !== undefined)
    return { lines: [[words(connectionTexts.connectedBy), ...tail]] };
  if (answer?.action === 'decline') return { lines: [[words(cardTexts.declined), ...tail]] };
  const text = answer === undefined ? plainPayload(request) : plainValue(answer.content ?? '');
  return { lines: [[words(cardTexts.answered), ...tail]], quote: { label: cardTexts.answer, text } };
}

/** Says what an action waits for; nothing if it is done. */
function progressOf(request: RequestRecord): RichTextElement[] {
  const missing = unansweredIn(request);
  if (missing !== undefined) {
    const server = showLabel(missing.server, limits.label);
    return [words(cardTexts.endedWithoutAnswer(server, stateWord(missing.unanswered)))];
  }
  const pause = pausedIn(request);
  switch (pause?.paused) {
    case undefined:
      return [];
    case 'question':
      return [
        words(cardTexts.waitingFor),
        ...mentions(pause.asked),
        words(cardTexts.toAnswer(showLabel(pause.server, limits.label))),
      ];
    case 'answer':
      return [words(cardTexts.withAnswer(showLabel(pause.server, limits.label)))];
    case 'task':
      return [words(cardTexts.runsAt(showLabel(pause.server, limits.label)))];
    case 'unknown':
      return [words(cardTexts.endUnknown)];
    case 'tool':
      return [words(cardTexts.paused)];
  }
}

function serverPauseIn(request: RequestRecord): Elicitation | undefined {
  const details = readDetails(request);
  return details && elicitationOf(details.interrupt);
}

/** Says that the quorum has allowed the same again, or who revoked that. */
function grantLine(request: RequestRecord, { shown }: CardOptions): KnownBlock[] {
  const revokedBy = shown?.grants;
  const terms = request.granted ? readDetails(request)?.facets.grants : undefined;
  if (terms === undefined) return [];
  if (revokedBy !== undefined) return [line(words(grantTexts.revokedBy), mention(revokedBy))];
  return [line(words(grantTexts.onCard(terms)))];
}

function replacedBy(request: RequestRecord, payload: string): End {
  const reason = readReason(payload);
  const caller = callerOf(request);
  if (caller !== undefined && reason?.code === 'stale-approval')
    return { lines: [[words(callerTexts.notStarted(caller))]] };
  if (reason?.code === 'edited')
    return { lines: [[words(cardTexts.replacedByEdit), mention(reason.by), words(' · '), ...when(request)]] };
  if (reason !== undefined) return { lines: [[words(reasonTexts(reason).replaced)]] };
  return {
    lines: [[words(cardTexts.replacedUnknown)]],
    quote: { label: cardTexts.reason, text: payload },
  };
}

/**
 * Says why the outcome is unknown: the attempt sent no heartbeat, ended with an error after it may have taken effect, or may not be tried
 * again for a reason on record. A call in a turn has the reason in its interrupt.
 */
function doubtOf(request: RequestRecord): End {
  const { payload = '' } = request;
  const label = cardTexts.reason;
  const caller = callerOf(request);
  const silent = caller === undefined ? undefined : ({ code: 'silent', caller } as const);
  const doubt = payload === '' ? (silent ?? doubtIn(readDetails(request)?.interrupt)) : undefined;
  if (doubt !== undefined)
    return { lines: [[words(cardTexts.inDoubt)]], quote: { label, text: reasonTexts(doubt).why } };
  if (payload === '') return { lines: [[words(cardTexts.unknown)]] };
  const reason = readReason(payload);
  if (reason?.code === 'in-doubt')
    return { lines: [[words(cardTexts.inDoubt)]], quote: { label, text: reason.error } };
  const known = reason && reasonTexts(reason).notTriedAgain;
  return {
    lines: [
      [words(cardTexts.earlierAttempt)],
      [words(known ?? cardTexts.notTriedAgainUnknown)],
      ...(mayRunOnceMore(request) ? [] : [[words(cardTexts.askIfItDidNotRun)]]),
    ],
    ...(known === undefined && { quote: { label, text: payload } }),
  };
}

function lastProgress({ progress = '' }: RequestRecord): RichTextElement[] {
  return progress === '' ? [] : [words(cardTexts.lastProgress(showLabel(progress, limits.label)))];
}

/** Lists the people who voted in one way, with their times. */
export function votesBy(request: RequestRecord, decision: 'approve' | 'reject'): RichTextElement[] {
  const votes = new Map(
    request.votes.filter((vote) => vote.decision === decision).map((vote) => [vote.who, vote]),
  );
  if (votes.size === 0) return [];
  return mentions([...votes.keys()], (who) => [
    ...inPlaceOf(request, who),
    words(' ('),
    moment(votes.get(who)?.at ?? 0),
    words(')'),
  ]);
}

/** Writes these with their words, a line each. */
export function wordsOfVotes(request: RequestRecord): RichTextElement[][] {
  return wordsInVotes(request).map(({ who, decision, at, reason = '' }) => [
    words(cardTexts.wordsOf[decision]),
    mention(who),
    ...inPlaceOf(request, who),
    words(' ('),
    moment(at),
    words(reason === '' ? ')' : `): ${cut(quoteText(oneLine(reason)), limits.quoteCharacters)}`),
  ]);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Names the approver for whom a person has voted. */
function inPlaceOf({ votes }: RequestRecord, who: string): RichTextElement[] {
  const standsFor = votes.find((vote) => vote.who === who)?.standsFor;
  return standsFor === undefined ? [] : [words(cardTexts.inPlaceOf), mention(standsFor)];
}

/** Names who approved, each with the approver in whose place they did. */
function approvedBy(request: RequestRecord): RichTextElement[] {
  const approved = request.votes.filter(({ decision }) => decision === 'approve').map(({ who }) => who);
  if (approved.length === 0) return [];
  return [words(cardTexts.wasApprovedBy), ...mentions(approved, (who) => inPlaceOf(request, who))];
}

function actionsOf(request: RequestRecord, { view, shown }: CardOptions): KnownBlock[] {
  const elements: Button[] = [];
  const { id } = request;
  if (request.state === 'approved' && request.attempts === 0 && view === 'thread')
    elements.push(button(id, WITHDRAW, cardTexts.withdraw));
  if (undoUntil(request).length > 0) elements.push(button(id, UNDO, cardTexts.undo));
  const again = request.kind === 'approval' ? cardTexts.requestAgain : cardTexts.askAgain;
  // A caller asks again by itself.
  const isPersons = callersIn(request.requesters).length === 0;
  if (request.state === 'expired' && isPersons) elements.push(button(id, ASK_AGAIN, again));
  if (request.state === 'unknown') {
    const texts = confirmTexts.runAgain(titleOf(request));
    const confirm = {
      title: plain(texts.title),
      text: plain(texts.text),
      confirm: plain(texts.confirm),
      deny: plain(texts.deny),
      style: 'danger' as const,
    };
    elements.push(
      button(id, RAN, cardTexts.ran),
      button(id, DID_NOT_RUN, cardTexts.didNotRun),
      ...(mayRunOnceMore(request)
        ? [button(id, RUN_AGAIN, cardTexts.runAgain, { style: 'danger', confirm })]
        : []),
    );
  }
  if (request.granted && shown?.grants === undefined)
    elements.push(button(grantIdOf(id), REVOKE, grantTexts.revoke));
  elements.push(button(id, DETAILS, cardTexts.details));
  return [{ type: 'actions', elements }];
}

function ifAny(label: string, text: string | undefined): KnownBlock[] {
  return text === undefined || text.trim() === '' ? [] : [quoted(label, text)];
}

function by({ by: who = '' }: RequestRecord): RichTextElement[] {
  return [who === '' ? words(cardTexts.nobody) : mention(who)];
}

function when({ settledAt }: RequestRecord): RichTextElement[] {
  return [settledAt === undefined ? words(cardTexts.justNow) : moment(settledAt)];
}

/** Tells whether an action was done as it was approved, and not only started, or ended without what its server asked for. */
export function isDone(request: RequestRecord): boolean {
  const isOver = pausedIn(request) === undefined && unansweredIn(request) === undefined;
  return request.state === 'succeeded' && isOver;
}

/** Returns the title of an action that was done and is not undone, in the past tense, if it has one. */
export function doneTitle(request: RequestRecord): string | undefined {
  const isKept = isDone(request) && request.undo?.isDone !== true;
  return isKept ? readDetails(request)?.presented.done : undefined;
}

/** Says until when an action that succeeded can be undone; nothing if it cannot, or not any more. */
function undoUntil(request: RequestRecord): RichTextElement[] {
  const undoMs = undoOfferMs(request);
  if (undoMs === undefined || request.settledAt === undefined) return [];
  return [words(cardTexts.undoUntil), moment(request.settledAt + undoMs)];
}

/**
 * Returns for how long after its success an action can be undone; `undefined` if it cannot, or not any more. Of several requests of one
 * call only the first offers it.
 */
export function undoOfferMs(request: RequestRecord): number | undefined {
  const isOffered = request.undo === undefined || request.undo.step === 'offered';
  const details = isOffered && isDone(request) ? readDetails(request) : undefined;
  return details === undefined || wasApprovedBefore(details.interrupt)
    ? undefined
    : details.facets.undo?.withinMs;
}

/** Says who asked to undo the action, and whether it was undone. */
function undoLine({ undo }: RequestRecord): KnownBlock[] {
  const { step, by: who = '', link, isDone, at } = undo ?? {};
  if (step === undefined || step === 'offered' || step === 'over') return [];
  const person = who === '' ? words(cardTexts.nobody) : mention(who);
  const lead =
    isDone === true
      ? [words(cardTexts.undone), moment(at ?? 0), words(cardTexts.undoneBy)]
      : [words(isDone === false ? cardTexts.notUndone : cardTexts.undoRequested)];
  const view =
    link === undefined || !/^https?:\/\//.test(link)
      ? []
      : [words(' · '), { type: 'link' as const, url: showLine(link), text: cardTexts.viewUndo }];
  return [line(...lead, person, ...view)];
}
