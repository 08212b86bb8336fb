import type { App, MessageShortcut, RespondArguments } from '@slack/bolt';
import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';
import { grantsFor } from '../../engine/asks/grants.ts';
import { delegationsFor, LISTS, loadList, PAGE_SIZE, SHORT_PAGE_SIZE } from '../../engine/asks/load-lists.ts';
import type { BotContext } from '../context.ts';
import { tellPrivately } from '../outbox/private-notice.ts';
import { limits } from '../slack/limits.ts';
import { typedText } from '../slack/readable-text.ts';
import { readThreadMessage, type ThreadMessage } from '../slack/thread-reader.ts';
import { line, plain } from '../views/cards/card.ts';
import { buildList } from '../views/home/build-home.ts';
import { buildDelegations, buildGrants } from '../views/home/sections.ts';
import { type Modal, multilineInput, type Submission, textIn, untrustedText } from '../views/modals/modal.ts';
import { delegationTexts } from '../views/texts/delegations.ts';
import { words } from '../views/texts/format.ts';
import { grantTexts } from '../views/texts/grants.ts';
import { commandTexts } from '../views/texts/home.ts';
import { modalTexts } from '../views/texts/modals.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { answerDelegate } from './delegate.ts';
import { carryOutInTime, FREEZE_COMMAND } from './held-clicks.ts';
import { type GivenTask, openTask } from './open-task.ts';
import { answerPasskey } from './passkey.ts';

/** A slash command as it was typed. */
interface TypedCommand {
  readonly user: string;
  /** The whole text, and what follows its first word. */
  readonly text: string;
  readonly rest: string;
  /** The text after the first word as Slack sent it, with ids in place of names. */
  readonly sent: string;
  readonly click: { readonly who: string; readonly id: string };
  readonly channel: string;
  /** Acknowledges the command, for a word that does so itself. */
  readonly acknowledge: () => Promise<void>;
}

type AnswerWord = (context: BotContext, command: TypedCommand) => Promise<RespondArguments>;

/** The words that the slash command knows, but for `ask` and the lists of requests. */
const WORDS: ReadonlyMap<string, AnswerWord> = new Map<string, AnswerWord>([
  ['delegate', delegate],
  ['delegations', alone((context, { user }) => listDelegations(context, user))],
  ['freeze', freeze],
  ['unfreeze', freeze],
  ['grants', alone((context, { user }) => listGrants(context, user))],
  ['passkey', passkey],
]);

/** Makes the answer of a word that nothing may follow. */
function alone(answer: AnswerWord): AnswerWord {
  return async (context, command) =>
    command.rest === '' ? answer(context, command) : { text: commandTexts.usage };
}

/** Everything that may follow the slash command. */
export const SLASH_WORDS: readonly string[] = ['', 'ask', ...LISTS, ...WORDS.keys()];

async function delegate(context: BotContext, { sent, click }: TypedCommand): Promise<RespondArguments> {
  const answered = await answerDelegate(context, sent, click);
  return { text: delegationTexts.listTitle, blocks: [line(...answered)] };
}

async function passkey(context: BotContext, { sent, click }: TypedCommand): Promise<RespondArguments> {
  return { text: await answerPasskey(context, sent, click) };
}

/** The words that acknowledge themselves, when they are on record. */
const RECORDED: readonly string[] = ['freeze', 'unfreeze'];

async function freeze(
  context: BotContext,
  { user, channel, text, click, acknowledge }: TypedCommand,
): Promise<RespondArguments> {
  const held = { act: FREEZE_COMMAND, value: text, click, replyTo: { user, channel } } as const;
  return { text: await carryOutInTime(context, held, acknowledge), mrkdwn: false };
}

/** Answers the slash command: a task, one of its words, or the lists of requests. */
export function listenToCommands(app: App, context: BotContext): void {
  app.command('/countersign', async ({ ack, command, respond, context: { botUserId } }) => {
    const { user_id: user, channel_id: channel } = command;
    const text = typedText(command.text.trim());
    const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
    if (word.toLowerCase() === 'ask' && rest !== '') {
      // The task is on record before Slack is told that it was taken, and before anybody sees it.
      const opened = await openTask(context, { channel, user, text: rest, botUserId });
      await ack();
      const problem = opened.outcome === 'refused' ? opened.problem : await opened.post();
      if (problem !== undefined) await respond(problem);
      return;
    }
    if (!RECORDED.includes(word.toLowerCase())) await ack();
    const click = { who: user, id: command.trigger_id };
    const sent = command.text.trim().slice(word.length);
    const answer = WORDS.get(word.toLowerCase());
    await respond(
      answer === undefined
        ? await listRequests(context, user, text.toLowerCase())
        : await answer(context, { user, channel, text, rest, sent, click, acknowledge: () => ack() }),
    );
  });
}

async function listGrants(context: BotContext, user: string): Promise<RespondArguments> {
  const blocks = buildGrants(await grantsFor(context, user), limits.messageBlocks);
  return blocks.length === 0 ? { text: grantTexts.none } : { text: grantTexts.listTitle, blocks };
}

async function listDelegations(context: BotContext, user: string): Promise<RespondArguments> {
  const delegations = await delegationsFor(context, user);
  const blocks = buildDelegations(delegations, user, limits.messageBlocks);
  return blocks.length === 0 ? { text: delegationTexts.empty } : { text: delegationTexts.listTitle, blocks };
}

async function listRequests(context: BotContext, user: string, word: string): Promise<RespondArguments> {
  const wanted = LISTS.filter((name) => word === '' || name === word);
  if (wanted.length === 0) return { text: commandTexts.usage };
  const limit = wanted.length === 1 ? PAGE_SIZE : SHORT_PAGE_SIZE;
  const lists = await Promise.all(wanted.map((name) => loadList(context, user, name, { limit })));
  const more = lists.some(({ next }) => next !== undefined);
  return {
    text: commandTexts.yourRequests,
    blocks: [
      ...lists.flatMap((list) => buildList({ ...list, next: undefined }, Date.now())),
      ...(more ? [line(words(commandTexts.more))] : []),
    ],
  };
}

/** Lets people give a task about a message, with the shortcut in its menu. */
export function listenToShortcuts(app: App, context: BotContext): void {
  app.shortcut<MessageShortcut>(
    { callback_id: ASK_SHORTCUT, type: 'message_action' },
    async ({ ack, shortcut, client }) => {
      await ack();
      const { channel, user, trigger_id, message } = shortcut;
      const read = readThreadMessage(message);
      if (read === undefined || read.text === '') {
        await tellPrivately(context, { user: user.id, channel: channel.id }, noticeTexts.nothingToAskAbout);
        return;
      }
      const { thread_ts: threadTs } = message;
      const place = { channel: channel.id, threadTs: typeof threadTs === 'string' ? threadTs : read.ts };
      await client.views.open({ trigger_id, view: buildAskModal(read, place) });
    },
  );

  app.view(
    { callback_id: ASK_MODAL, type: 'view_submission' },
    async ({ ack, view, body, context: { botUserId } }) => {
      const task = parseTask(view.state.values);
      if (!task.ok) return ack({ response_action: 'errors', errors: { ...task.errors } });
      const about = parseAskedAbout(view.private_metadata);
      const problem =
        about === undefined
          ? noticeTexts.nothingToAskAbout
          : await giveTask(context, {
              channel: about.channel,
              user: body.user.id,
              text: task.value,
              about,
              botUserId,
            });
      // The person keeps what they have typed.
      if (problem !== undefined) return ack({ response_action: 'errors', errors: { [TASK]: problem } });
      await ack({ response_action: 'clear' });
    },
  );
}

/** Records a task and posts it; returns a sentence if it is not taken. */
async function giveTask(context: BotContext, task: GivenTask): Promise<string | undefined> {
  const opened = await openTask(context, task);
  return opened.outcome === 'refused' ? opened.problem : opened.post();
}

/** The id of the message shortcut in the app's manifest. */
const ASK_SHORTCUT = 'ask_about_message';
const ASK_MODAL = 'ask';
const TASK = 'task';

const Metadata = z.object({
  channel: z.string(),
  ts: z.string(),
  threadTs: z.string(),
  author: z.string(),
  text: z.string(),
});
/** The message that a task is about, as the modal keeps it. */
type AskedAbout = Readonly<z.infer<typeof Metadata>>;

/** Builds the modal that asks what to do about a message. It shows the message, and keeps as much of it as Slack lets a modal keep. */
function buildAskModal(
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
function parseAskedAbout(metadata: string): AskedAbout | undefined {
  return Metadata.safeParse(tryParseJson(metadata)).data;
}

/** Parses the task; blanks count as none. */
function parseTask(values: unknown): Submission<string> {
  const task = textIn(values, TASK);
  if (task === undefined) return { ok: false, errors: { [TASK]: modalTexts.fillThisIn } };
  return { ok: true, value: task };
}
