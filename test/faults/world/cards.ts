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
  const buttons = blocks.flatMap((block) => {
    const elements: readonly CardElement[] =
      block.type === 'actions' && Array.isArray(block.elements) ? block.elements : [];
    return elements.flatMap((element) => buttonsOf(element, String(block.block_id)));
  });
  return { channel: message.channel, ts: message.ts, text, buttons };
}

interface CardElement {
  readonly action_id?: unknown;
  readonly value?: unknown;
  readonly options?: readonly { readonly value?: unknown }[];
}

/** The options of a menu count as buttons; its block names the request. */
function buttonsOf({ action_id, value, options }: CardElement, blockId: string): ShownCard['buttons'] {
  if (action_id !== 'more') return [{ actionId: String(action_id), requestId: String(value) }];
  return (options ?? []).map((option) => ({ actionId: String(option.value), requestId: blockId }));
}

/** Whether a card names this person among those who signed; in the same line it names those whose approval it still needs. */
export function hasSigned(card: ShownCard, who: string): boolean {
  const [, signers = ''] = /[Aa]pproved by(.*?)(?:\]| · needs \d+ more)/.exec(card.text) ?? [];
  return signers.includes(who);
}
