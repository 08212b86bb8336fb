import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';
import { plain } from '../cards/card.ts';
import type { ThreadMessage } from '../intake/slack-message.ts';
import { type Modal, multilineInput, type Submission, untrustedText } from '../modals/modal.ts';
import { textIn } from '../modals/modal-state.ts';
import { limits } from '../slack/limits.ts';
import { modalTexts } from '../texts/modals.ts';

/** The id of the message shortcut in the app's manifest. */
export const ASK_SHORTCUT = 'ask_about_message';
export const ASK_MODAL = 'ask';
export const TASK = 'task';

const Metadata = z.object({
  channel: z.string(),
  ts: z.string(),
  threadTs: z.string(),
  author: z.string(),
  text: z.string(),
});
/** The message that a task is about, as the modal keeps it. */
export type AskedAbout = Readonly<z.infer<typeof Metadata>>;

/** Builds the modal that asks what to do about a message. It shows the message, and keeps as much of it as Slack lets a modal keep. */
export function buildAskModal(
  { ts, author, text }: ThreadMessage,
  { channel, threadTs }: { readonly channel: string; readonly threadTs: string },
): Modal {
  return {
    type: 'modal',
    callback_id: ASK_MODAL,
    private_metadata: writeAbout({ channel, ts, threadTs, author, text }),
    title: plain(modalTexts.askTitle),
    submit: plain(modalTexts.ask),
    close: plain(modalTexts.cancel),
    blocks: [untrustedText(modalTexts.askIntro(text)), multilineInput(TASK, modalTexts.askTask)],
  };
}

/** Writes the metadata; a text that is too long is cut, and says so. */
function writeAbout(about: AskedAbout): string {
  const whole = JSON.stringify(about);
  if (whole.length <= limits.privateMetadata) return whole;
  const excess = whole.length - limits.privateMetadata;
  const length = Math.max(0, about.text.length - Math.max(excess, CUT.length * 2));
  const kept = about.text
    .slice(0, length)
    .replace(/[\uD800-\uDBFF]$/, '')
    .replaceAll(CUT, '');
  return writeAbout({ ...about, text: `${kept}${CUT}` });
}
const CUT = ' … (cut)';

/** Parses the metadata of the modal; `undefined` if it is none. */
export function parseAskedAbout(metadata: string): AskedAbout | undefined {
  return Metadata.safeParse(tryParseJson(metadata)).data;
}

/** Parses the task; blanks count as none. */
export function parseTask(values: unknown): Submission<string> {
  const task = textIn(values, TASK);
  if (task === undefined) return { ok: false, errors: { [TASK]: modalTexts.fillThisIn } };
  return { ok: true, value: task };
}
