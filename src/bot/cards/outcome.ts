import type { Button, KnownBlock, RichTextElement } from '@slack/types';
import type { JsonValue } from '../../agent/json.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import { CHANGED } from '../requests/replies-to.ts';
import { limits } from '../slack/limits.ts';
import { ASK_AGAIN, DID_NOT_RUN, RAN, RUN_AGAIN, WITHDRAW } from './action-ids.ts';
import {
  button,
  type CardOptions,
  line,
  mention,
  mentions,
  moment,
  plain,
  preformatted,
  quoted,
  words,
} from './card.ts';
import { renderValue } from './render-value.ts';

const SUPERSEDED = new Map([
  ['changed', 'The tool, the policy or the arguments have changed since it was signed.'],
  ['quorum-lost', 'Not enough of those who signed it may still sign.'],
  ['stale-approval', 'It was approved, but could not start in time, so this needs a new approval.'],
  ['not-allowed', 'Not everyone who takes part in this task may use this tool any more, so it did not run.'],
  ['requester-inactive', 'A person who requested this is no longer active here, so it did not run.'],
]);
const VERDICTS = new Map([
  ['ran', 'it ran'],
  ['did-not-run', 'it did not run'],
]);

/** Builds the outcome of a decided request: who, when, why, and the result. */
export function buildOutcome(request: RequestRecord, options: CardOptions): KnownBlock[] {
  return [...signatures(request), ...stateBlocks(request), ...actionsOf(request, options)];
}

function stateBlocks(request: RequestRecord): KnownBlock[] {
  const reason = request.payload ?? '';
  switch (request.state) {
    case 'pending':
      return [];
    case 'approved':
      return [line(words('It runs in a moment.'))];
    case 'started':
      return [
        line(words(request.attempts > 1 ? `It is running, try ${request.attempts}.` : 'It is running.')),
        ...ifAny('Progress', request.progress),
      ];
    case 'succeeded':
      return [line(words('Done '), ...when(request), words('.')), ...result('Outcome', request)];
    case 'failed':
      return [line(words('Failed '), ...when(request), words('.')), ...result('Error', request)];
    case 'unknown':
      return [
        line(words('It was started, and then its worker fell silent: it may have run or not.')),
        line(words('Who may say what became of it: '), ...mentions(request.policy.resolvers)),
      ];
    case 'resolved': {
      const [verdict = '', ...why] = reason.split('\n');
      const found = VERDICTS.get(verdict) ?? 'what became of it';
      return [
        line(
          words('Its outcome was unknown; '),
          ...by(request),
          words(` found out that ${found}, `),
          ...when(request),
          words('.'),
        ),
        ...ifAny('Reason', why.join('\n')),
      ];
    }
    case 'rejected':
      return [
        line(words('Rejected by '), ...by(request), words(' '), ...when(request), words('.')),
        ...ifAny('Reason', reason),
      ];
    case 'withdrawn':
      return [
        line(words('Withdrawn by '), ...by(request), words(' '), ...when(request), words('.')),
        ...ifAny('Reason', reason),
      ];
    case 'expired':
      return [line(words('Nobody decided in time; it expired '), ...when(request), words('.'))];
    case 'superseded': {
      const [code = '', change] = reason.split('\n');
      const known = code === CHANGED && change !== undefined ? change : SUPERSEDED.get(reason);
      const sentence = known ?? 'What it rests on has changed, so it is not valid any more.';
      return [line(words(sentence)), ...(known === undefined ? ifAny('Reason', reason) : [])];
    }
    case 'answered':
      return [
        line(words('Answered by '), ...by(request), words(' '), ...when(request), words('.')),
        ...result('Answer', request),
      ];
  }
}

/** Lists all votes with their times; a request that one person answers has none. */
export function signatures(request: RequestRecord): KnownBlock[] {
  const said = (decision: 'approve' | 'reject', label: string): KnownBlock[] => {
    const votes = new Map(
      request.votes.filter((vote) => vote.decision === decision).map((vote) => [vote.who, vote.at]),
    );
    if (votes.size === 0) return [];
    const time = (who: string): RichTextElement[] => [words(' ('), moment(votes.get(who) ?? 0), words(')')];
    return [line(words(label), ...mentions([...votes.keys()], time))];
  };
  return [...said('approve', 'Signed by '), ...said('reject', 'Refused by ')];
}

function actionsOf(request: RequestRecord, { view }: CardOptions): KnownBlock[] {
  const elements: Button[] = [];
  if (request.state === 'approved' && view === 'thread')
    elements.push(button(request.id, WITHDRAW, 'Withdraw'));
  if (request.state === 'expired') elements.push(button(request.id, ASK_AGAIN, 'Ask again'));
  if (request.state === 'unknown') {
    const confirm = {
      title: plain('Run it again?'),
      text: plain('If it did run the first time, it takes effect twice.'),
      confirm: plain('Run again'),
      deny: plain('Go back'),
      style: 'danger' as const,
    };
    elements.push(
      button(request.id, RAN, 'It ran'),
      button(request.id, DID_NOT_RUN, 'It did not run'),
      button(request.id, RUN_AGAIN, 'Run again', { style: 'danger', confirm }),
    );
  }
  return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

function result(label: string, request: RequestRecord): KnownBlock[] {
  const value = payloadOf(request);
  if (value === undefined) return [];
  const isProse = typeof value === 'string' && value !== '';
  if (isProse)
    return [quoted(label, value, { characters: limits.answerCharacters, lines: limits.contextLines })];
  const { text, leftOut } = renderValue(value, {
    characters: limits.contextCharacters,
    lines: limits.contextLines,
  });
  return [
    line(words(label, { bold: true })),
    preformatted(text),
    ...(leftOut === undefined ? [] : [line(words(`${leftOut}.`))]),
  ];
}

/** Reads the value of a payload; a payload that is no JSON is returned as text. */
export function payloadOf({ payload }: RequestRecord): JsonValue | undefined {
  if (payload === undefined || payload === '') return undefined;
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}

function ifAny(label: string, text: string | undefined): KnownBlock[] {
  return text === undefined || text.trim() === '' ? [] : [quoted(label, text)];
}

function by({ by: who }: RequestRecord): RichTextElement[] {
  return [who === undefined || who === '' ? words('nobody in particular') : mention(who)];
}

function when({ settledAt }: RequestRecord): RichTextElement[] {
  return [settledAt === undefined ? words('just now') : moment(settledAt)];
}
