import type { Button, KnownBlock, RichTextElement } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { consentOf } from '../../tools/mcp/auth/person/ask-for-consent.ts';
import { type Elicitation, elicitationOf } from '../../tools/mcp/server-pause.ts';
import { parseAnswerValue } from '../elicitation/answer-value.ts';
import { grantIdOf } from '../grants/grant-details.ts';
import { pausedIn, unansweredIn } from '../requests/paused-action.ts';
import { CHANGED, parseEdited, parsePreviewChange } from '../requests/replies-to.ts';
import { readDetails } from '../requests/request-details.ts';
import { limits } from '../slack/limits.ts';
import { cardTexts, confirmTexts, stateWord } from '../texts/cards.ts';
import { connectionTexts } from '../texts/connections.ts';
import { freezeTexts } from '../texts/freezes.ts';
import { grantTexts } from '../texts/grants.ts';
import { ASK_AGAIN, DETAILS, DID_NOT_RUN, RAN, REVOKE, RUN_AGAIN, UNDO, WITHDRAW } from './action-ids.ts';
import { button, type CardOptions, line, mention, mentions, moment, plain, quoted, words } from './card.ts';
import { plainPayload, titleOf } from './card-details.ts';
import { undoLine, undoUntil } from './undo-offer.ts';
import { plainValue } from './values/plain-value.ts';
import { showLabel } from './values/show-text.ts';

/** Builds the end of a decided request: what happened, who, when, and what can still be done. */
export function buildOutcome(request: RequestRecord, options: CardOptions): KnownBlock[] {
  return [
    ...stateBlocks(request, options),
    ...undoLine(request),
    ...grantLine(request, options),
    ...actionsOf(request, options),
  ];
}

function stateBlocks(request: RequestRecord, { freeze }: CardOptions): KnownBlock[] {
  const reason = request.payload ?? '';
  switch (request.state) {
    case 'pending':
      return [];
    case 'approved':
      if (freeze === undefined) return [line(words(cardTexts.starting), ...approvedBy(request))];
      return [
        line(words(showLabel(freezeTexts.held(freeze), limits.quoteCharacters))),
        line(words(cardTexts.approvedBy), ...votesBy(request, 'approve')),
      ];
    case 'started':
      return [
        line(words(cardTexts.running(request.attempts)), ...approvedBy(request)),
        ...ifAny(cardTexts.progress, request.progress),
      ];
    case 'paused':
    case 'succeeded':
      return [line(...endOf(request), ...when(request), ...approvedBy(request), ...undoUntil(request))];
    case 'failed':
      return [
        line(words(cardTexts.failed), ...when(request), ...approvedBy(request)),
        ...ifAny(cardTexts.error, plainPayload(request)),
      ];
    case 'unknown':
      return [
        ...doubtBlocks(reason),
        line(words(cardTexts.resolvers), ...mentions(request.policy.resolvers), ...approvedBy(request)),
      ];
    case 'resolved': {
      const [verdict = '', ...why] = reason.split('\n');
      return [
        line(...by(request), words(cardTexts.confirmed(verdict)), ...when(request), ...approvedBy(request)),
        ...ifAny(cardTexts.reason, why.join('\n')),
      ];
    }
    case 'rejected':
      return [
        line(
          words(cardTexts.rejected),
          ...by(request),
          ...inPlaceOf(request, request.by ?? ''),
          words(', '),
          ...when(request),
        ),
        ...ifAny(cardTexts.reason, reason),
      ];
    case 'withdrawn':
      return [
        line(words(cardTexts.withdrawn), ...by(request), words(', '), ...when(request)),
        ...ifAny(cardTexts.reason, reason),
      ];
    case 'expired':
      return [line(words(cardTexts.expired(request.kind === 'approval')), ...when(request))];
    case 'superseded':
      return replacedBlocks(request, reason);
    case 'answered':
      return answerBlocks(request);
  }
}

function answerBlocks(request: RequestRecord): KnownBlock[] {
  const asked = request.kind === 'form' ? serverPauseIn(request) : undefined;
  const answer = asked && parseAnswerValue(request.payload);
  const details = readDetails(request);
  if (details !== undefined && consentOf(details.interrupt) !== undefined)
    return [line(words(connectionTexts.connectedBy), ...by(request), words(', '), ...when(request))];
  const isDeclined = answer?.action === 'decline';
  const end = isDeclined ? cardTexts.declined : cardTexts.answered;
  const given = answer === undefined ? plainPayload(request) : plainValue(answer.content ?? '');
  const values = isDeclined ? undefined : given;
  return [
    line(words(end), ...by(request), words(', '), ...when(request)),
    ...ifAny(cardTexts.answer, values),
  ];
}

/** Says that an action is done, or what it waits for. */
function endOf(request: RequestRecord): RichTextElement[] {
  const missing = unansweredIn(request);
  if (missing !== undefined) {
    const server = showLabel(missing.server, limits.label);
    return [words(cardTexts.endedWithoutAnswer(server, stateWord(missing.unanswered)))];
  }
  const pause = pausedIn(request);
  switch (pause?.paused) {
    case undefined:
      return [words(cardTexts.done)];
    case 'question':
      return [
        words(cardTexts.waitingFor),
        ...mentions(pause.asked),
        words(cardTexts.toAnswer(showLabel(pause.server, limits.label))),
      ];
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
function grantLine(request: RequestRecord, { revokedBy }: CardOptions): KnownBlock[] {
  const terms = request.granted ? readDetails(request)?.policy?.grants : undefined;
  if (terms === undefined) return [];
  if (revokedBy !== undefined) return [line(words(grantTexts.revokedBy), mention(revokedBy))];
  return [line(words(grantTexts.onCard(terms)))];
}

function replacedBlocks(request: RequestRecord, reason: string): KnownBlock[] {
  const edited = parseEdited(reason);
  if (edited !== undefined)
    return [line(words(cardTexts.replacedByEdit), mention(edited.by), words(', '), ...when(request))];
  if (parsePreviewChange(reason) !== undefined) return [line(words(cardTexts.previewReplaced))];
  const known = changeIn(reason) ?? cardTexts.replaced(reason);
  return [
    line(words(known ?? cardTexts.replacedUnknown)),
    ...(known === undefined ? ifAny(cardTexts.reason, reason) : []),
  ];
}

/** Says why the outcome is unknown: the attempt sent no heartbeat, or it may not be tried again for a reason on record. */
function doubtBlocks(reason: string): KnownBlock[] {
  if (reason === '') return [line(words(cardTexts.unknown))];
  const edit = parseEdited(reason) && cardTexts.stoppedByEdit;
  const known = edit ?? changeIn(reason) ?? cardTexts.notTriedAgain(reason);
  return [
    line(words(cardTexts.earlierAttempt)),
    line(words(known ?? cardTexts.notTriedAgainUnknown)),
    ...(known === undefined ? ifAny(cardTexts.reason, reason) : []),
  ];
}

/** Reads the sentence about what changed from the reason of a request that may not start. */
function changeIn(reason: string): string | undefined {
  const [code = '', change] = reason.split('\n');
  return code === CHANGED ? change : undefined;
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

/** Names the approver for whom a person has voted. */
function inPlaceOf({ votes }: RequestRecord, who: string): RichTextElement[] {
  const standsFor = votes.find((vote) => vote.who === who)?.standsFor;
  return standsFor === undefined ? [] : [words(cardTexts.inPlaceOf), mention(standsFor)];
}

function approvedBy(request: RequestRecord): RichTextElement[] {
  const votes = votesBy(request, 'approve');
  return votes.length === 0 ? [] : [words(` · ${cardTexts.approvedBy}`), ...votes];
}

function actionsOf(request: RequestRecord, { view, revokedBy }: CardOptions): KnownBlock[] {
  const elements: Button[] = [];
  const { id } = request;
  if (request.state === 'approved' && request.attempts === 0 && view === 'thread')
    elements.push(button(id, WITHDRAW, cardTexts.withdraw));
  if (undoUntil(request).length > 0) elements.push(button(id, UNDO, cardTexts.undo));
  const again = request.kind === 'approval' ? cardTexts.requestAgain : cardTexts.askAgain;
  if (request.state === 'expired') elements.push(button(id, ASK_AGAIN, again));
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
      button(id, RUN_AGAIN, cardTexts.runAgain, { style: 'danger', confirm }),
    );
  }
  if (request.granted && revokedBy === undefined)
    elements.push(button(grantIdOf(id), REVOKE, grantTexts.revoke));
  elements.push(button(id, DETAILS, cardTexts.details));
  return [{ type: 'actions', elements }];
}

function ifAny(label: string, text: string | undefined): KnownBlock[] {
  return text === undefined || text.trim() === '' ? [] : [quoted(label, text)];
}

function by({ by: who = '' }: RequestRecord): RichTextElement[] {
  if (who.startsWith('callback:')) return [words(cardTexts.externalSystem)];
  if (who.startsWith('tool:')) return [words(cardTexts.theTool)];
  return [who === '' ? words(cardTexts.nobody) : mention(who)];
}

function when({ settledAt }: RequestRecord): RichTextElement[] {
  return [settledAt === undefined ? words(cardTexts.justNow) : moment(settledAt)];
}
