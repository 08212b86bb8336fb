import { z } from 'zod';
import { type JsonValue, tryParseJson } from '../../../agent/json.ts';
import { Json } from '../../../agent/json-schema.ts';
import { isAskedAgain } from '../../../engine/asks/after-end.ts';
import type { RunningAction } from '../../../engine/asks/freeze-actions.ts';
import { readFacets } from '../../../engine/facets/facets.ts';
import { type InnerCall, innerCalls } from '../../../engine/inner-calls.ts';
import { resultProblemIn, unansweredIn } from '../../../engine/paused.ts';
import type { PlannedSteps } from '../../../engine/planned-steps.ts';
import { approvedArguments, type Details, readDetails } from '../../../engine/request-details.ts';
import { REVERSIBLE } from '../../../policy/reversible.ts';
import { type RequestRecord, resolutionOf } from '../../../store/port/request-record.ts';
import { type Consent, consentOf } from '../../../tools/mcp/auth/ask-for-consent.ts';
import { type Elicitation, elicitationOf, parseAnswerValue } from '../../../tools/mcp/server-pause.ts';
import { type Ask, askOf, type Question, questionIn } from '../../../tools/pause.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { type WaitingAnswer, waitingAnswerOf } from '../../../tools/waiting-answer.ts';
import { limits } from '../../slack/limits.ts';
import {
  cardTexts,
  ENDED_ICON,
  PROBLEM_ICON,
  STATE_ICON,
  STATE_WORD,
  UNDONE_ICON,
  VERDICT,
} from '../texts/cards.ts';
import { connectionTexts } from '../texts/connections.ts';
import { showLabel } from '../texts/show-text.ts';
import { coveredSteps, planTitle } from './plan-title.ts';
import { plainValue } from './render-value.ts';

/** The details that a card shows. */
export interface CardDetails extends Details {
  readonly name: string;
  /** The arguments that an approval covers. */
  readonly input: JsonValue;
  /** The rule that requires approval. */
  readonly rule: string | undefined;
  /** Whether people are asked because it exceeds a limit. */
  readonly isOverLimit: boolean;
  /** The calls that wait inside this one, if it does not wait itself. */
  readonly inner: readonly InnerCall[] | undefined;
  /** The answer to the call's server or tool that waits for approval. */
  readonly answer: WaitingAnswer | undefined;
  /** The question of the call's own tool, if it asks one. */
  readonly ask: Ask | undefined;
  /** The account that the call waits for, if it does. */
  readonly consent: Consent | undefined;
  /** The question of the call's server, if it asks one. */
  readonly pause: Elicitation | undefined;
}

const GateRule = z.object({
  approval: z.object({ rule: z.string().min(1), overLimit: z.literal(true).optional() }),
});

/** Reads the details of a request for its card; `undefined` if the call cannot be shown. */
export function cardDetailsOf(request: RequestRecord): CardDetails | undefined {
  const details = readDetails(request);
  if (details === undefined) return undefined;
  const { interrupt, originalInput, facets } = details;
  const { plan } = facets;
  const { name } = interrupt.toolRequest;
  const gated = GateRule.safeParse(interrupt.metadata).data?.approval;
  const rule = facets.reason?.rule ?? gated?.rule;
  const isOverLimit = gated?.overLimit === true;
  const [consent, pause] = [consentOf(interrupt), elicitationOf(interrupt)];
  const inner = innerCalls(interrupt);
  const answer = waitingAnswerOf(interrupt);
  return {
    ...details,
    facets: plan === undefined ? facets : { ...facets, undo: undoOf(plan) },
    name,
    rule,
    isOverLimit,
    consent,
    pause,
    inner,
    answer,
    ask: askOf(interrupt),
    input: plan === undefined ? approvedArguments(interrupt) : planArguments(plan),
    originalInput: inner === undefined && answer === undefined ? originalInput : undefined,
  };
}

/** Tells whether a plan can be taken back, and for how long: the worst of the steps that it covers counts. */
function undoOf({ steps }: PlannedSteps): NonNullable<Details['facets']['undo']> {
  const covered = steps.filter(({ alone }) => !alone).map((step) => readFacets(step).undo);
  const reversible = REVERSIBLE.findLast((each) =>
    covered.some((undo) => (undo?.reversible ?? 'no') === each),
  );
  const times = covered.flatMap((undo) => (undo?.reversible === 'undo' ? (undo.withinMs ?? []) : []));
  return {
    reversible: reversible ?? 'no',
    ...(times.length > 0 && { withinMs: Math.min(...times) }),
  };
}

/** Returns the arguments that the approval of a plan covers, in the order in which they run. */
function planArguments({ steps }: PlannedSteps): JsonValue {
  return steps.map(({ number, tool, input, alone }) => ({
    step: number,
    tool,
    arguments: input,
    ...(alone && { asked: 'separately' }),
  }));
}

/** Returns the title of a request in one line of visible characters, cut to a length: of a question or a form, what it is about. */
export function titleOf(
  request: Pick<RequestRecord, 'details' | 'kind' | 'steps'>,
  length: number = limits.label,
): string {
  const details = readDetails(request);
  if (details === undefined) return UNREADABLE;
  const { plan } = details.facets;
  if (plan !== undefined) return planTitle(coveredSteps(plan, request.steps), length);
  return showLabel(details.purpose ?? details.presented.title, length);
}

/** Returns the title of an action that runs. */
export function runningTitle(action: RunningAction): string {
  return 'request' in action ? titleOf(action.request) : readableName(action.tool);
}

/** Returns the number of a request among those of its turn, in words; `undefined` if it is the only one. */
export function placeText(request: Pick<RequestRecord, 'details'>): string | undefined {
  const place = readDetails(request)?.place;
  return place === undefined ? undefined : cardTexts.place(place.number, place.of);
}

const UNREADABLE = "A request that can't be shown";

/** Tells whether the button asks for a confirmation; a passkey asks by itself, and takes nothing away from high risk. */
export function needsConfirmation({ policy }: CardDetails): boolean {
  const { confirm, risk } = policy ?? {};
  return confirm === undefined || confirm === 'passkey' ? risk === 'high' : confirm;
}

/** Reads the question of a request; an unreadable one has neither choices nor written answers. */
export function questionOf(request: RequestRecord): Question {
  const details = cardDetailsOf(request);
  if (details?.ask === undefined)
    return { message: UNREADABLE_QUESTION, choices: [], allowOther: false, several: false };
  const question = questionIn(details.ask);
  return question.message === '' ? { ...question, message: details.presented.title } : question;
}

const UNREADABLE_QUESTION = "This question can't be shown.";

/**
 * Says which state a request is in, as an icon and a word: on cards, their copies and Details, in Home, summaries and notices, on the page
 * and in commands. What the record calls `succeeded` may go on elsewhere, or be undone.
 */
export function stateOf(request: RequestRecord): { readonly icon: string; readonly word: string } {
  if (request.undo?.isDone === true) return { icon: UNDONE_ICON, word: cardTexts.undoneWord };
  if (unansweredIn(request) !== undefined) return { icon: ENDED_ICON, word: cardTexts.endedWord };
  if (isDeclined(request)) return { icon: STATE_ICON.rejected, word: cardTexts.declinedWord };
  if (resultProblemIn(request) !== undefined) return { icon: PROBLEM_ICON, word: cardTexts.unusableWord };
  const shown = { icon: STATE_ICON[request.state], word: STATE_WORD[request.state] };
  if (isConnected(request)) return { ...shown, word: connectionTexts.cardConnected };
  if (request.state === 'superseded' && !isAskedAgain(request)) return VERDICT.get('did-not-run') ?? shown;
  return request.state === 'resolved' ? (VERDICT.get(resolutionOf(request.payload).verdict) ?? shown) : shown;
}

/** Returns the word for the state of a request within a sentence. */
export function stateWordOf(request: RequestRecord): string {
  return stateOf(request).word.toLowerCase();
}

/** Tells whether a person has connected the account that a call waited for. */
function isConnected({ state, details }: RequestRecord): boolean {
  const interrupt = state === 'answered' ? readDetails({ details })?.interrupt : undefined;
  return interrupt !== undefined && consentOf(interrupt) !== undefined;
}

/** Tells whether a person has declined what a server asked. */
export function isDeclined({ state, payload, details }: RequestRecord): boolean {
  if (state !== 'answered' || parseAnswerValue(payload)?.action !== 'decline') return false;
  const interrupt = readDetails({ details })?.interrupt;
  return interrupt !== undefined && elicitationOf(interrupt) !== undefined;
}

const Wrapped = z.strictObject({ untrusted_output: Json });

/** Reads the value of a payload, without the mark of output from outside; a payload that is no JSON is returned as text. */
export function payloadOf(request: RequestRecord): JsonValue | undefined {
  const { payload } = request;
  if (payload === undefined || payload === '') return undefined;
  const value = unansweredIn(request)?.result ?? tryParseJson(payload);
  if (value === undefined) return payload;
  const wrapped = Wrapped.safeParse(value);
  return wrapped.success ? wrapped.data.untrusted_output : value;
}

/** Writes a payload for people; a payload that is missing is empty. */
export function plainPayload(request: RequestRecord): string {
  const value = payloadOf(request);
  return value === undefined ? '' : plainValue(value);
}
