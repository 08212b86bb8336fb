import type { JsonObject } from '../../agent/json.ts';
import type { Actor, RequestRecord } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { askerProblem } from '../intake/may-ask.ts';
import { type Directory, isGroup } from '../slack/directory.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { parseThreadId } from '../slack/thread.ts';
import type { Click } from './click.ts';

/** The principal that means every member of the workspace who is neither a guest nor a bot. */
export const ANYONE = 'anyone';

/** The reasons why a person may not decide. */
export type Ineligibility =
  | 'deactivated'
  | 'bot'
  | 'other-workspace'
  | 'guest'
  | 'not-approver'
  | 'cannot-check';

/** The result of an eligibility check, with its evidence and the reason of a refusal. */
export type Permission =
  | { readonly eligible: true; readonly evidence: JsonObject }
  | {
      readonly eligible: false;
      readonly evidence: JsonObject;
      readonly why: Ineligibility;
      /** False if Slack could not be asked, so that the answer may change later. */
      readonly checked: boolean;
    };

/**
 * Checks in Slack whether a person is one of the principals now, and not excluded. If Slack cannot be asked, the answer is no. Guests and
 * people of other organisations may never approve; `outsiders` lets them answer.
 */
export async function mayDecide(
  directory: Directory,
  who: string,
  principals: readonly string[],
  excluded: readonly string[] = [],
  outsiders = false,
): Promise<Permission> {
  const refuse = (why: Ineligibility, found: JsonObject = {}, checked = true): Permission => ({
    eligible: false,
    evidence: { ...found, refused: why },
    why,
    checked,
  });
  try {
    const { isBot, isGuest, isStranger, isDeactivated } = await directory.member(who);
    const found = { isBot, isGuest, isStranger, isDeactivated };
    if (isDeactivated) return refuse('deactivated', found);
    if (isBot) return refuse('bot', found);
    if (isStranger && !outsiders) return refuse('other-workspace', found);
    if (isGuest && !outsiders) return refuse('guest', found);
    if (await directory.isAmong(who, excluded)) return refuse('not-approver', found);
    if (principals.includes(ANYONE)) return { eligible: true, evidence: { ...found, as: ANYONE } };
    if (principals.includes(who)) return { eligible: true, evidence: { ...found, as: who } };
    for (const group of principals.filter(isGroup)) {
      if ((await directory.group(group)).includes(who))
        return { eligible: true, evidence: { ...found, as: group } };
    }
    return refuse('not-approver', found);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refuse('cannot-check', { reason }, judgeSlackFailure(error).kind !== 'later');
  }
}

/** A person with the evidence of the check, and the reason if they may not decide. */
export interface Authorization {
  readonly actor: Actor;
  readonly problem: Ineligibility | undefined;
}

/** Checks in Slack whether the person who clicked is one of the principals now. */
export async function authorize(
  { directory }: Pick<BotContext, 'directory'>,
  { who, id }: Click,
  principals: readonly string[],
  excluded: readonly string[] = [],
  outsiders = false,
): Promise<Authorization> {
  const permission = await mayDecide(directory, who, principals, excluded, outsiders);
  const { eligible } = permission;
  return {
    actor: { who, eligible, evidence: { click: id, ...permission.evidence } },
    problem: permission.eligible ? undefined : permission.why,
  };
}

/** Checks whether a person may answer a request. Whoever may ask may answer what their own task asks, also as a guest. */
export async function authorizeAnswer(
  context: Pick<BotContext, 'directory' | 'agent'>,
  click: Click,
  { principals, requesters, threadId }: RequestRecord,
): Promise<Authorization> {
  const asker = { user: click.who, channel: parseThreadId(threadId).channel };
  const mayAsk =
    requesters.includes(click.who) &&
    (await askerProblem(context.directory, context.agent().askers, asker).catch(() => '')) === undefined;
  return authorize(context, click, principals, [], mayAsk);
}
