import type { JsonObject } from '../../agent/json.ts';
import { ANYONE } from '../../policy/policy.ts';
import type { Directory } from '../ports.ts';

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
      /** False if it could not be looked up, so that the answer may change later. */
      readonly checked: boolean;
    };

/**
 * Checks whether a person is one of the principals now, and not excluded. If nobody can tell, the answer is no. Guests and
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
    for (const group of principals.filter((id) => directory.isGroup(id))) {
      if ((await directory.group(group)).includes(who))
        return { eligible: true, evidence: { ...found, as: group } };
    }
    return refuse('not-approver', found);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refuse('cannot-check', { reason }, !directory.mayAskLater(error));
  }
}
