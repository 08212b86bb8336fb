import type { JsonObject, JsonValue } from '../../agent/json.ts';
import type { RequestRecord, Verdict } from '../../store/port.ts';
import type { BotParts } from '../bot-parts.ts';
import { mayDecide } from '../people/may-decide.ts';
import { editedPayload } from '../requests/replies-to.ts';
import { readyToRun } from './approve-and-run.ts';
import { placeNotice } from './place-notice.ts';
import { refusalWords } from './refusal-words.ts';
import { signAndRun } from './sign-and-run.ts';

type Parts = Pick<BotParts, 'store' | 'directory' | 'toolbox'>;

/** Who clicked, and the click's own id, so that the same click counts once. */
export interface Click {
  readonly who: string;
  readonly id: string;
  /** The channel of the message that was clicked, where it was one. */
  readonly channel?: string | undefined;
}

/** What the person is told; `undefined` when the card itself says enough. */
export type Notice = string | undefined;

const GONE = 'This request is not known any more.';

async function withRequest(
  parts: Parts,
  requestId: string,
  act: (request: RequestRecord) => Promise<Notice>,
): Promise<Notice> {
  const loaded = await parts.store.load(requestId);
  return loaded.outcome === 'found' ? act(loaded.request) : GONE;
}

/** Checks a person against the record, in Slack, now. */
async function deedOf({ directory }: Parts, { who, id }: Click, principals: readonly string[]) {
  const permission = await mayDecide(directory, who, principals);
  const evidence: JsonObject = { click: id, ...permission.evidence };
  return {
    who,
    eligible: permission.eligible,
    evidence,
    why: permission.eligible ? undefined : permission.why,
  };
}

/** Approves or rejects; the vote is on record when this returns. */
export async function vote(
  parts: BotParts,
  requestId: string,
  click: Click,
  decision: 'approve' | 'reject',
  reason = '',
): Promise<Notice> {
  const quick = decision === 'approve' ? await signAndRun(parts, requestId, click) : undefined;
  if (quick?.outcome === 'signed') return undefined;
  const loaded = quick?.loaded ?? (await parts.store.load(requestId));
  if (loaded.outcome !== 'found') return GONE;
  const { request } = loaded;
  return placeNotice(parts, request, click) ?? (await weigh(parts, request, click, decision, reason));
}

/** Takes a vote with all that has to be known for it beside the record. */
async function weigh(
  parts: BotParts,
  request: RequestRecord,
  click: Click,
  decision: 'approve' | 'reject',
  reason: string,
): Promise<Notice> {
  const [{ why, ...deed }, run] = await Promise.all([
    deedOf(parts, click, request.principals),
    decision === 'approve' ? readyToRun(parts, request, click.who) : undefined,
  ]);
  const given = { ...deed, decision, shown: request.digest, reason };
  const result = await (run === undefined ? parts.store.vote(request.id, given) : run(given));
  if (result.outcome !== 'voted') return refusalWords(result, why);
  const isRepeated = request.votes.some(
    (earlier) => earlier.who === click.who && earlier.decision === decision,
  );
  if (!isRepeated) return undefined;
  const { state } = result;
  return refusalWords(
    state === 'pending' ? { outcome: 'repeated' } : { outcome: 'settled', state, by: request.by ?? '' },
  );
}

/** Answers a question, a form or a call-back. */
export function answer(parts: Parts, requestId: string, click: Click, value: JsonValue): Promise<Notice> {
  return withRequest(parts, requestId, async (request) => {
    const { why, ...deed } = await deedOf(parts, click, request.principals);
    const result = await parts.store.answer(request.id, deed, value);
    return result.outcome === 'answered' ? undefined : refusalWords(result, why);
  });
}

/** Takes a request back; the record lets only the requester. */
export async function withdraw(parts: Parts, requestId: string, { who, id }: Click): Promise<Notice> {
  const result = await parts.store.withdraw(requestId, { who, evidence: { click: id } }, '');
  return result.outcome === 'withdrawn' ? undefined : refusalWords(result);
}

/** Says what became of an action whose outcome is unknown, after so many tries. */
export function resolve(
  parts: Parts,
  requestId: string,
  click: Click,
  { verdict, reason, tries }: { readonly verdict: Verdict; readonly reason: string; readonly tries: number },
): Promise<Notice> {
  return withRequest(parts, requestId, async (request) => {
    const { why, ...deed } = await deedOf(parts, click, request.policy.resolvers);
    const result = await parts.store.resolve(request.id, deed, verdict, reason, tries);
    return result.outcome === 'resolved' ? undefined : refusalWords(result, why);
  });
}

/** Changes what is asked for: the request is superseded, and the same people are asked for the new input. */
export function edit(parts: Parts, requestId: string, click: Click, input: JsonValue): Promise<Notice> {
  return withRequest(parts, requestId, async (request) => {
    const { why, eligible } = await deedOf(parts, click, request.principals);
    if (!eligible && click.who !== request.requester) return why;
    const result = await parts.store.supersede(request.id, editedPayload(input, click.who));
    return result.outcome === 'superseded' ? undefined : refusalWords(result);
  });
}
