import { askerProblem } from '../../../engine/asks/may-ask.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { BotContext } from '../../context.ts';
import { parseThreadId } from '../../slack/thread.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { personView, viewsSeenIn } from '../../views/view-ids.ts';
import { NOT_FOUND } from './refusal-text.ts';

/** A click or a submit of a person. Its id makes a repeated click count once. */
export interface Click {
  readonly who: string;
  readonly id: string;
  /** The person's workspace, if Slack names it. */
  readonly team?: string | undefined;
  /** The channel of the clicked message, if it was a message. */
  readonly channel?: string | undefined;
}

/** The private reply to a click; `undefined` if the card itself says enough. */
export type Notice = string | undefined;

type Context = Pick<BotContext, 'store' | 'directory' | 'logger' | 'agent'>;

/** The request of a click, or the reason why the click does not count. */
export type CheckedClick =
  | { readonly ok: true; readonly request: RequestRecord }
  | { readonly ok: false; readonly notice: string };

/** Loads the request of a click, and checks the origin of the click. */
export async function checkClick(context: Context, requestId: string, click: Click): Promise<CheckedClick> {
  const [loaded, ownTeam] = await Promise.all([context.store.load(requestId), context.directory.ownTeam()]);
  const request = loaded.outcome === 'found' ? loaded.request : undefined;
  const isForeign = click.team !== undefined && click.team !== ownTeam;
  if (isForeign && !(await isForeignRequester(context, request, click))) {
    context.logger.warn({ requestId, user: click.who, team: click.team }, 'click from another workspace');
    return { ok: false, notice: noticeTexts.otherWorkspace };
  }
  // A step is shown on the card of its plan.
  const plan = request?.step && (await context.store.load(request.step.plan));
  const isOnPlan = plan?.outcome === 'found' && clickPlaceProblem(context, plan.request, click) === undefined;
  const problem = isOnPlan ? undefined : clickPlaceProblem(context, request, click);
  if (problem !== undefined) return { ok: false, notice: problem };
  return request === undefined ? { ok: false, notice: NOT_FOUND } : { ok: true, request };
}

/**
 * Refuses to show people of other organisations more of a request than its card; in a shared channel they see that too. A requester sees
 * their own request whole.
 */
export async function viewerProblem(
  { directory, logger }: Pick<BotContext, 'directory' | 'logger'>,
  { id, requesters }: RequestRecord,
  { who, team }: Click,
): Promise<Notice> {
  if (requesters.includes(who)) return undefined;
  const isForeign = team !== undefined && team !== (await directory.ownTeam());
  const member = isForeign
    ? undefined
    : await directory
        .relaxed()
        .member(who)
        .catch(() => undefined);
  if (member?.isStranger === false) return undefined;
  if (member === undefined && !isForeign) return noticeTexts.cannotCheckViewer;
  logger.warn({ requestId: id, user: who, team }, 'click from another workspace');
  return noticeTexts.notShownOutside;
}

/**
 * Tells whether a person of another workspace asked for the request themselves and may still ask. In a shared channel they withdraw and
 * answer it by click as they do in writing; that they approve nothing is decided with every vote. Slack has to know them by that
 * workspace, because ids are unique only within one.
 */
async function isForeignRequester(
  { directory, agent }: Context,
  request: RequestRecord | undefined,
  { who, team }: Click,
): Promise<boolean> {
  if (request === undefined || !request.requesters.includes(who)) return false;
  const { channel } = parseThreadId(request.threadId);
  try {
    const { team: known } = await directory.member(who);
    const problem = await askerProblem(directory, agent().askers, { user: who, channel });
    return known === team && problem === undefined;
  } catch {
    return false;
  }
}

/** Refuses, and logs, a click in a channel that shows no card of the request, where nobody has seen what they would decide. */
function clickPlaceProblem(
  { logger }: Context,
  request: RequestRecord | undefined,
  { who, channel }: Click,
): Notice {
  if (request === undefined || channel === undefined) return undefined;
  const seen = viewsSeenIn(channel, who, request.id);
  const own = personView(who);
  // A direct message is one channel, and not every channel of the person who got it.
  const isShown = ({ id, postedAt }: RequestRecord['views'][number]): boolean =>
    seen.includes(id) && (id !== own || postedAt === undefined || postedAt.channel === channel);
  if (request.views.some(isShown)) return undefined;
  logger.warn({ requestId: request.id, user: who, channel }, 'click from elsewhere');
  return noticeTexts.wrongPlace;
}
