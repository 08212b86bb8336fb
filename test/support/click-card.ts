import type { Workspace } from '../../playground/slack/workspace.ts';

const IN_MENU: readonly string[] = ['approve-grant', 'approve-commented', 'edit', 'details', 'withdraw'];

/** Clicks a button of a card, or chooses in its menu what stands there. */
export function clickCard(
  workspace: Workspace,
  who: string,
  { channel, ts }: { readonly channel: string; readonly ts: string },
  actionId: string,
) {
  const { blocks = [] } = workspace.state.findMessage(channel, ts) ?? {};
  const hasButton = JSON.stringify(blocks).includes(`"action_id":"${actionId}"`);
  const isInMenu = IN_MENU.includes(actionId) && !hasButton;
  const person = workspace.as(who);
  return isInMenu
    ? person.click({ channel, ts }, 'more', { value: actionId })
    : person.click({ channel, ts }, actionId);
}
