import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';
import type { RequesterServer } from '../../tools/mcp/auth/connections.ts';
import { OPEN_PAGE } from '../cards/action-ids.ts';
import { plain } from '../cards/card.ts';
import { showLabel } from '../cards/values/show-text.ts';
import type { Modal } from '../modals/modal.ts';
import { textIn } from '../modals/modal-state.ts';
import { limits } from '../slack/limits.ts';
import { connectionTexts } from '../texts/connections.ts';
import { modalTexts } from '../texts/modals.ts';

export const CONNECT_MODAL = 'connect';
export const CODE = 'code';
const MAX_CODE_LENGTH = 20;

const Metadata = z.object({ attempt: z.string() });

/** Builds the modal that connects an account: the link, which only this person sees, and the code that proves it was them. */
export function buildConnectModal(
  { name, url }: Pick<RequesterServer, 'name' | 'url'>,
  { attempt, link }: { readonly attempt: string; readonly link: string },
): Modal {
  const server = showLabel(name, limits.label);
  return {
    type: 'modal',
    callback_id: CONNECT_MODAL,
    private_metadata: JSON.stringify({ attempt }),
    title: plain(connectionTexts.modalTitle),
    submit: plain(connectionTexts.confirm),
    close: plain(modalTexts.cancel),
    blocks: [
      { type: 'section', text: plain(connectionTexts.modalIntro(server, new URL(url).host)) },
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: OPEN_PAGE,
            text: plain(connectionTexts.openPage),
            url: link,
            style: 'primary',
          },
        ],
      },
      {
        type: 'input',
        block_id: CODE,
        label: plain(connectionTexts.codeLabel),
        element: { type: 'plain_text_input', action_id: CODE, max_length: MAX_CODE_LENGTH },
      },
    ],
  };
}

/** Reads the attempt and the code of a submitted modal. */
export function readConnectModal(
  metadata: string,
  values: unknown,
): { readonly attempt: string; readonly code: string } {
  const attempt = Metadata.safeParse(tryParseJson(metadata)).data?.attempt ?? '';
  return { attempt, code: textIn(values, CODE) ?? '' };
}
