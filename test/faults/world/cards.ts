import type { Message } from '../../../playground/slack/state/types.ts';
import type { Workspace } from '../../../playground/slack/workspace.ts';

/** A card as Slack shows or has shown it. */
export interface ShownCard {
  readonly channel: string;
  readonly ts: string;
  /** Everything on it that can be read. */
  readonly text: string;
  /** The buttons that can be clicked, each with its request. */
  readonly buttons: readonly { readonly actionId: string; readonly requestId: string }[];
}

/** The card that a message is now; `undefined` when it is none. */
export function cardOf(message: Message): ShownCard | undefined {
  return toCard(message, message.blocks);
}

/** Every version of every card that Slack has ever shown. */
export function allCards(workspace: Workspace): ShownCard[] {
  return workspace.state.messages.flatMap((message) =>
    [...message.history.map(({ blocks }) => blocks), message.blocks].flatMap(
      (blocks) => toCard(message, blocks) ?? [],
    ),
  );
}

function toCard(message: Message, blocks: Message['blocks']): ShownCard | undefined {
  if (blocks.length === 0) return undefined;
  const text = JSON.stringify(blocks);
  if (!text.includes('tok-')) return undefined;
  const buttons = blocks
    .flatMap((block) => (block.type === 'actions' && Array.isArray(block.elements) ? block.elements : []))
    .map((element: { action_id?: unknown; value?: unknown }) => ({
      actionId: String(element.action_id),
      requestId: String(element.value),
    }));
  return { channel: message.channel, ts: message.ts, text, buttons };
}

/** Whether a card names this person among those who signed. */
export function hasSigned(card: ShownCard, who: string): boolean {
  return new RegExp(`Signed by[^\\]]*${who}`).test(card.text);
}
