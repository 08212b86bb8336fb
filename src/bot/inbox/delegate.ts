import type { RichTextElement } from '@slack/types';
import { loadList } from '../../engine/asks/load-lists.ts';
import { hasPart, rulesOf, standInsFor } from '../../engine/asks/stand-ins.ts';
import { countsNow, openLink, readPasskeys } from '../../engine/passkeys.ts';
import type { StandIn } from '../../engine/ports.ts';
import { readDetails } from '../../engine/request-details.ts';
import { isSigned, type Policy } from '../../policy/policy.ts';
import { isTimeZone, localTime, momentAt } from '../../policy/time.ts';
import { delegationsIn, type NewDelegation, readDelegations } from '../../store/documents/delegations.ts';
import type { BotContext } from '../context.ts';
import type { Directory, Member } from '../slack/directory.ts';
import { limits } from '../slack/limits.ts';
import { typedText } from '../slack/readable-text.ts';
import { END_DELEGATION } from '../views/cards/action-ids.ts';
import { delegationTexts } from '../views/texts/delegations.ts';
import { withCode, words } from '../views/texts/format.ts';
import { showLabel } from '../views/texts/show-text.ts';
import { standInViews } from '../views/view-ids.ts';

/** More wait in App Home. */
const MOST = 20;

/** Sends the requests that wait for an approver to the person who decides for them from now on. */
export async function askStandIn(
  context: Pick<BotContext, 'store' | 'directory' | 'toolbox' | 'logger'>,
  { who, standsFor }: StandIn,
): Promise<void> {
  const { store, toolbox, logger } = context;
  try {
    const { requests } = await loadList(context, standsFor, 'waiting', { limit: MOST });
    for (const request of requests) {
      if (request.state !== 'pending' || hasPart(request, who)) continue;
      const standIns = await standInsFor(context, rulesOf(request));
      const isMeant = standIns.some((each) => each.who === who && each.standsFor === standsFor);
      const policy = toolbox.policy(readDetails(request)?.policy?.name ?? '');
      if (isMeant && policy?.directMessages !== false)
        await store.redraw(request.id, { views: standInViews([{ who, standsFor }]) });
    }
  } catch (err) {
    logger.warn({ err, who }, 'waiting requests not sent to the delegate');
  }
}

/** A delegation as somebody wrote it, or the part that cannot be read. */
type ParsedDelegate =
  | { readonly ok: true; readonly to: string; readonly until: number; readonly reason: string }
  | { readonly ok: false; readonly problem: 'person' | 'time' };

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
};

const PERSON = /^(?:<@([UW][A-Z0-9]+)(?:\|[^>]*)?>|([UW][A-Z0-9]{6,}))$/;
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Reads `@Bob until Friday [reason]`: a mention or an id, then a day, a date or a time in the person's time zone, or `for 3 days`. */
export function parseDelegate(text: string, now: Date, timeZone: string): ParsedDelegate {
  const [person = '', ...rest] = text.trim().split(/\s+/);
  const [, mentioned, written] = PERSON.exec(person) ?? [];
  const to = mentioned ?? written;
  if (to === undefined) return { ok: false, problem: 'person' };
  const end = parseEnd(rest, now, timeZone);
  if (end === undefined) return { ok: false, problem: 'time' };
  return { ok: true, to, until: end.until, reason: rest.slice(end.words).join(' ') };
}

interface End {
  readonly until: number;
  /** The number of words that say it. */
  readonly words: number;
}

function parseEnd(words: readonly string[], now: Date, timeZone: string): End | undefined {
  const [lead = '', first = '', second = ''] = words.map((word) => word.toLowerCase());
  if (lead === 'for') return parseLength(first, second, now);
  if (lead !== 'until' && lead !== 'till') return undefined;
  const clock = CLOCK.exec(first);
  if (clock !== null) return { until: nextTime(clock, now, timeZone), words: 2 };
  const date = parseDay(first, now, timeZone);
  if (date === undefined) return undefined;
  const time = CLOCK.exec(second);
  // A day lasts until its end.
  if (time === null) return { until: momentAt(dayAfter(date), 0, 0, timeZone), words: 2 };
  return { until: momentAt(date, Number(time[1]), Number(time[2]), timeZone), words: 3 };
}

function parseLength(count: string, unit: string, now: Date): End | undefined {
  const ms = UNITS[unit.replace(/s$/, '')];
  const number = count === 'a' || count === 'an' ? 1 : Number(count);
  if (ms === undefined || !Number.isInteger(number) || number < 1) return undefined;
  return { until: now.getTime() + number * ms, words: 3 };
}

/** Returns the next moment at which the clock shows this time. */
function nextTime([, hour, minute]: readonly string[], now: Date, timeZone: string): number {
  const { date } = localTime(now, timeZone);
  const today = momentAt(date, Number(hour), Number(minute), timeZone);
  return today > now.getTime() ? today : momentAt(dayAfter(date), Number(hour), Number(minute), timeZone);
}

function parseDay(word: string, now: Date, timeZone: string): string | undefined {
  const { date, weekday } = localTime(now, timeZone);
  if (word === 'today') return date;
  if (word === 'tomorrow') return dayAfter(date);
  if (DATE.test(word)) return isDate(word) ? word : undefined;
  const wanted = word.length < 3 ? -1 : DAYS.findIndex((day) => day.startsWith(word));
  return wanted < 0 ? undefined : dayAfter(date, (wanted - DAYS.indexOf(weekday) + 7) % 7);
}

function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function dayAfter(date: string, days = 1): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

type Context = Pick<BotContext, 'store' | 'agent'>;

/**
 * Ends the delegation of a person, for one of its two people or an admin, and tells the other. Once this resolves nothing is signed under
 * it in any process.
 */
async function endDelegation(
  { store, agent }: Context,
  from: string,
  { who, id }: { readonly who: string; readonly id: string },
  shown?: string,
): Promise<string> {
  const current = (await readDelegations(store)).find((each) => each.from === from);
  if (current?.declared === true) return delegationTexts.declared;
  const isAdmin = agent().admins.includes(who);
  const end = { from, shown, id, who, isAdmin, evidence: { click: id } };
  const outcome = await delegationsIn(store).end(end);
  if (outcome === 'not-eligible') return delegationTexts.notYours;
  if (outcome === 'none')
    return who === from && shown === undefined ? delegationTexts.none : delegationTexts.gone;
  const { told } = delegationTexts;
  const others = [from, ...(current === undefined ? [] : [current.to])].filter((person) => person !== who);
  for (const user of others)
    await store.enqueueOutbox('delegations', {
      id: `delegation-ended/${id}/${user}`,
      body: {
        kind: 'titled',
        user,
        text: '',
        title: told.title,
        ...(user === from ? { tail: told.from, people: [who] } : { tail: told.to, people: [from] }),
      },
    });
  if (who === from) return delegationTexts.ended;
  return who === current?.to ? delegationTexts.endedTo : delegationTexts.endedOther;
}

/** Ends a delegation by its button; the value names who gave it, and its id. */
export function endByClick(
  context: Context,
  value: string,
  click: { readonly who: string; readonly id: string },
): Promise<string> {
  const [from = '', shown = ''] = value.split(' ');
  return endDelegation(context, from, click, shown);
}

const MAX_DAYS = 90;

/** A person who uses the command. */
interface Delegator {
  readonly who: string;
  /** New for each use. */
  readonly id: string;
}

/** Answers `/countersign delegate …`: records a delegation, or ends the one of the person. */
export async function answerDelegate(
  context: BotContext,
  text: string,
  delegator: Delegator,
): Promise<readonly RichTextElement[]> {
  if (/^stop$/i.test(text.trim())) return [words(await endDelegation(context, delegator.who, delegator))];
  const answer = await delegate(context, text, delegator);
  return typeof answer === 'string' ? withCode(answer) : answer;
}

async function delegate(
  context: BotContext,
  text: string,
  { who: from, id }: Delegator,
): Promise<readonly RichTextElement[] | string> {
  const { store, toolbox } = context;
  const directory = context.directory.fresh();
  const own = await directory.member(from).catch(() => undefined);
  if (own === undefined) return delegationTexts.cannotCheck;
  const zone = own.timeZone !== undefined && isTimeZone(own.timeZone) ? own.timeZone : 'UTC';
  const parsed = parseDelegate(text, new Date(), zone);
  if (!parsed.ok) return problemText(text, parsed.problem);
  const { to, until } = parsed;
  if (until > Date.now() + MAX_DAYS * DAY_MS) return delegationTexts.tooLong(MAX_DAYS);
  if (to === from) return delegationTexts.toYourself;
  const standIn = await directory.member(to).catch(() => undefined);
  const problem = standInProblem(standIn);
  if (problem !== undefined) return problem;
  const covered = await coveredPolicies(directory, from, toolbox.policies());
  if (covered === undefined) return delegationTexts.cannotCheck;
  if (covered.length === 0) return delegationTexts.nowhere;
  const reason = parsed.reason === '' ? '' : showLabel(typedText(parsed.reason), limits.description);
  const delegation: NewDelegation = { id, from, to, until, reason, evidence: { click: id, covered } };
  if ((await delegationsIn(store).delegate(delegation)) === 'over') return delegationTexts.over;
  await store.enqueueOutbox('delegations', {
    id: `delegated/${id}`,
    body: {
      kind: 'titled',
      user: to,
      text: '',
      title: delegationTexts.given.title,
      moment: until,
      tail: delegationTexts.given.tail(reason),
      people: [from],
      button: { actionId: END_DELEGATION, text: delegationTexts.end, value: `${from} ${id}` },
    },
  });
  await askStandIn(context, { who: to, standsFor: from });
  const status = standIn?.status && showLabel(standIn.status, limits.status);
  const done = delegationTexts.done({ to, until, reason }, status);
  const isSignedSomewhere = toolbox.policies().some((each) => covered.includes(each.name) && isSigned(each));
  return isSignedSomewhere ? [...done, ...(await askForSignature(context, delegation, covered))] : done;
}

/** Gives the approver a link to the page where their passkey signs the delegation; until then it counts only where clicks approve. */
async function askForSignature(
  { store, passkeyLink }: Pick<BotContext, 'store' | 'passkeyLink'>,
  { id, from }: NewDelegation,
  policies: string[],
): Promise<readonly RichTextElement[]> {
  const needed = words(` ${delegationTexts.needsPasskey} `);
  const { keys } = await readPasskeys(store, from);
  if (!keys.some((key) => countsNow(key))) return [needed, words(delegationTexts.noKey)];
  const { nonce } = await openLink(store, { delegation: id, who: from, policies });
  const url = passkeyLink(nonce);
  return [needed, ...(url === undefined ? [words(delegationTexts.noPage)] : delegationTexts.sign(url))];
}

function problemText(text: string, problem: 'person' | 'time'): string {
  if (text.trim() === '') return delegationTexts.usage;
  return problem === 'person' ? delegationTexts.notFound : delegationTexts.noTime(delegationTexts.usage);
}

/** Says why a person cannot decide for anybody; the same is checked again at each vote. */
function standInProblem(found: Member | undefined): string | undefined {
  if (found === undefined) return delegationTexts.cannotCheck;
  const reasons = ['isDeactivated', 'isBot', 'isStranger', 'isGuest'] as const;
  const reason = reasons.find((each) => found[each]);
  return reason && delegationTexts.notPossible[reason];
}

/** Lists the policies that allow delegation and under which a person may approve; `undefined` if Slack cannot be asked. */
async function coveredPolicies(
  directory: Directory,
  who: string,
  policies: readonly Policy[],
): Promise<string[] | undefined> {
  const covered: string[] = [];
  try {
    for (const { name, delegation, approvers, groups, excluded, escalate } of policies) {
      if (delegation !== true || (await directory.isAmong(who, excluded))) continue;
      // Approvers who are taken from a call are not known before it.
      const isTakenFromCall = groups.some(({ from }) => from !== undefined);
      const principals = [...approvers, ...(escalate?.to ?? [])];
      if (isTakenFromCall || (await directory.isAmong(who, principals))) covered.push(name);
    }
    return covered;
  } catch {
    return undefined;
  }
}
