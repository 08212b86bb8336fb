import { toJson } from '../../agent/json.ts';
import { toolActor } from '../../engine/actors.ts';
import { quietEnd } from '../../engine/asks/quiet-end.ts';
import { rulesOf, standInsBehind } from '../../engine/asks/stand-ins.ts';
import { hasWebhook, webhookRow } from '../../engine/caller-threads.ts';
import { lookUp } from '../../engine/outcomes.ts';
import { readReason } from '../../engine/reasons.ts';
import { detailsOf } from '../../engine/request-details.ts';
import type { NewView, RequestRecord } from '../../store/port/request-record.ts';
import { peopleToConfirm } from '../asks/plan/people-to-ask.ts';
import type { BotContext } from '../context.ts';
import { isGroup } from '../slack/directory.ts';
import { placeIn } from '../slack/thread.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { personView, standInViews, THREAD_VIEW } from '../views/view-ids.ts';
import { reminderRow } from './reminders.ts';
import { titledRow } from './reply-rows.ts';

/** Gives up a silent attempt, and looks for the outcome; also for one that a process left unknown before it could look. */
export async function recover(context: BotContext, id: string): Promise<void> {
  const { outcome } = await context.store.recover(id);
  if (outcome === 'unknown-outcome' || outcome === 'still-unknown') await findOutcome(context, id);
}

/** Lets the tool find out the outcome of a call that is on record as unknown; otherwise the resolvers are asked. */
async function findOutcome(
  { store, toolbox, directory, logger }: Pick<BotContext, 'store' | 'toolbox' | 'directory' | 'logger'>,
  requestId: string,
): Promise<void> {
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found' || loaded.request.state !== 'unknown') return;
  const { request } = loaded;
  const { interrupt, idempotencyKey } = detailsOf(request);
  const tool = toolbox.find(interrupt.toolRequest.name)?.tool;
  const verdict = await lookUp({ logger }, tool, {
    idempotencyKey,
    input: toJson(interrupt.toolRequest.input),
  });
  if (verdict !== 'unknown') {
    const who = toolActor(interrupt.toolRequest.name);
    const actor = { who, eligible: true, evidence: { reconciled: idempotencyKey } };
    const reason = 'the tool looked it up';
    await store.resolve(requestId, actor, verdict, reason, request.attempts);
    return;
  }
  // Before the people are told, so that a crash between the two tells again.
  const { threadId, revision } = request;
  if (hasWebhook(toolbox, threadId))
    await store.enqueueOutbox(threadId, webhookRow(threadId, `${requestId}/unknown/${revision}`));
  const { resolvers } = request.policy;
  const { people, isSure } = await peopleToConfirm(directory.fresh(), resolvers);
  if (!isSure) throw new Error('The people who can confirm an outcome could not be looked up');
  // A changed card notifies nobody; a message with mentions does.
  const notTried = (request.payload ?? '') === '' ? noticeTexts.unknown : noticeTexts.notTriedAgain;
  const isInDoubt = request.execution.elsewhere === true || readReason(request.payload)?.code === 'in-doubt';
  const text = isInDoubt ? noticeTexts.inDoubt : notTried;
  const told = resolvers.filter((id) => isGroup(id) || people.includes(id));
  await store.notify(requestId, 'recover', {
    revision: request.revision,
    row: titledRow(request, 'unknown', text, told, request.revision),
    views: [
      // A step has had no card of its own so far.
      ...(request.step === undefined ? [] : [{ id: THREAD_VIEW, place: { ...placeIn(request.threadId) } }]),
      ...people.map((user) => ({ id: personView(user), place: { user } })),
    ],
  });
}

async function withRequest(
  { store }: BotContext,
  id: string,
  act: (request: RequestRecord) => Promise<unknown>,
): Promise<void> {
  const loaded = await store.load(id);
  if (loaded.outcome === 'found') await act(loaded.request);
  // A request that is gone needs no timer.
  else await store.end(id, { state: 'expired' });
}

/** Reminds the approvers of a request, or puts it off to the end of the quiet hours. */
export async function remind(context: BotContext, id: string): Promise<void> {
  await withRequest(context, id, async (request) => {
    const quietUntil = quietEnd(context, request);
    await context.store.notify(id, 'remind', { row: reminderRow(request), quietUntil });
  });
}

/** Lets further people decide, and sends them the card. */
export async function escalate(context: BotContext, id: string): Promise<void> {
  await withRequest(context, id, (request) => escalateRequest(context, request));
}

async function escalateRequest(context: BotContext, request: RequestRecord): Promise<void> {
  const { to: further = [], afterMs } = request.policy.escalate ?? {};
  const isAtOnce = afterMs === 0;
  const text = isAtOnce ? noticeTexts.escalatedAtOnce : noticeTexts.escalated;
  const views = await viewsFor(context, request, further);
  await context.store.notify(request.id, 'escalate', {
    row: titledRow(request, 'escalate', text, further),
    views,
  });
}

/** Places the card in the direct messages of further people and those who may decide for them; throws if Slack cannot say who they are. */
async function viewsFor(
  context: BotContext,
  request: RequestRecord,
  further: readonly string[],
): Promise<NewView[]> {
  const { directory, toolbox } = context;
  const policy = toolbox.policy(detailsOf(request).policy?.name ?? '');
  if (request.state !== 'pending' || policy?.directMessages === false) return [];
  const people = await directory.surePeopleOf(further);
  const { standIns, isSure } = await standInsBehind(context, { ...rulesOf(request), principals: further });
  if (!isSure) throw new Error('The people who stand in could not be looked up');
  return [
    ...people.map((user) => ({ id: personView(user), place: { user } })),
    ...standInViews(standIns.filter(({ who }) => !people.includes(who))),
  ];
}
