import type { RichTextElement } from '@slack/types';
import type { NewDelegation } from '../../store/port/delegations.ts';
import { isTimeZone } from '../../tools/gate/local-time.ts';
import type { Policy } from '../../tools/gate/policy.ts';
import { END_DELEGATION } from '../cards/action-ids.ts';
import { words } from '../cards/card.ts';
import { showLabel } from '../cards/values/show-text.ts';
import type { BotContext } from '../context.ts';
import { typedText } from '../intake/readable-text.ts';
import type { Directory, Member } from '../slack/directory.ts';
import { limits } from '../slack/limits.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { askStandIn } from './ask-stand-in.ts';
import { endDelegation } from './end-delegation.ts';
import { parseDelegate } from './parse-delegate.ts';

const DAY_MS = 86_400_000;
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
  return typeof answer === 'string' ? [words(answer)] : answer;
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
  if ((await store.delegate(delegation)).outcome === 'over') return delegationTexts.over;
  await store.spreadDelegations();
  await store.enqueueOutbox('delegations', {
    id: `delegated/${id}`,
    body: {
      ...{ kind: 'titled', user: to, text: '', title: delegationTexts.given.title, moment: until },
      ...{ tail: delegationTexts.given.tail(reason), people: [from] },
      button: { actionId: END_DELEGATION, text: delegationTexts.end, value: `${from} ${id}` },
    },
  });
  await askStandIn(context, { who: to, standsFor: from });
  const status = standIn?.status && showLabel(standIn.status, limits.status);
  return delegationTexts.done({ to, until, reason }, status);
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
