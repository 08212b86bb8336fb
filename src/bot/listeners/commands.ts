import type { App, BlockButtonAction, RespondArguments } from '@slack/bolt';
import { line, words } from '../cards/card.ts';
import { escapeMarkup } from '../cards/values/show-text.ts';
import type { BotContext } from '../context.ts';
import { answerDelegate } from '../delegations/delegate-command.ts';
import { buildDelegations, delegationsFor } from '../delegations/delegation-blocks.ts';
import { answerFreezeCommand } from '../freezes/freeze-command.ts';
import { buildGrants } from '../grants/grant-blocks.ts';
import { grantsFor } from '../grants/revoke-grant.ts';
import { buildList } from '../home/build-home.ts';
import { LISTS, loadList, PAGE_SIZE } from '../home/load-lists.ts';
import { buildNotes, FORGET_NOTE, forgetNote } from '../home/notes.ts';
import { refreshHome } from '../home/show-home.ts';
import { typedText } from '../intake/readable-text.ts';
import { tellPrivately } from '../reply/private-notice.ts';
import { limits } from '../slack/limits.ts';
import { openTask } from '../tasks/open-task.ts';
import { commandTexts } from '../texts/commands.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { grantTexts } from '../texts/grants.ts';
import { memoryTexts } from '../texts/memory.ts';
import { replyPlace } from './reply-place.ts';

/** The page size of three lists in one message, which has half the blocks of a Home tab. */
const SHORT_PAGE_SIZE = 5;

/** Answers the slash command: a task, a delegation, the notes about the channel, or the lists of requests. */
export function listenToCommands(app: App, context: BotContext): void {
  app.command('/countersign', async ({ ack, command, respond, context: { botUserId } }) => {
    const { user_id: user, channel_id: channel } = command;
    const typed = typedText(command.text.trim());
    const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(typed) ?? [];
    if (word.toLowerCase() === 'ask' && rest !== '') {
      // The task is on record before Slack is told that it was taken, and before anybody sees it.
      const opened = await openTask(context, { channel, user, text: rest, botUserId });
      await ack();
      const problem = opened.outcome === 'refused' ? opened.problem : await opened.post();
      if (problem !== undefined) await respond(problem);
      return;
    }
    await ack();
    const click = { who: user, id: command.trigger_id };
    if (word.toLowerCase() === 'delegate') {
      const text = command.text.trim().slice(word.length);
      const answered = await answerDelegate(context, text, click);
      await respond({ text: delegationTexts.listTitle, blocks: [line(...answered)] });
      return;
    }
    const answer = await answerFreezeCommand(context, typed, click);
    if (answer !== undefined) await respond({ text: escapeMarkup(answer), mrkdwn: false });
    else if (word.toLowerCase() === 'memory' && rest === '') await respond(await listNotes(context, channel));
    else if (word.toLowerCase() === 'grants' && rest === '') await respond(await listGrants(context, user));
    else if (word.toLowerCase() === 'delegations' && rest === '')
      await respond(await listDelegations(context, user));
    else await respond(await listRequests(context, user, typed.toLowerCase()));
  });

  app.action<BlockButtonAction>(FORGET_NOTE, async ({ ack, action, body, respond }) => {
    const shownIn = body.container.type === 'message' ? body.container.channel_id : undefined;
    const value = action.value ?? '';
    const problem = await forgetNote(context, { value, user: body.user.id, shownIn });
    await ack();
    if (problem !== undefined) await tellPrivately(context, replyPlace(body), problem);
    if (body.view !== undefined) await refreshHome(context, body.user.id);
    else if (shownIn !== undefined)
      await respond({ ...(await listNotes(context, shownIn)), replace_original: true });
  });
}

async function listNotes({ store, agent }: BotContext, channel: string): Promise<RespondArguments> {
  if (agent().memory === 'off') return { text: memoryTexts.off };
  const notes = await store.recall(channel);
  return { text: memoryTexts.channelTitle, blocks: buildNotes(notes, memoryTexts.channelTitle) };
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
      ...lists.flatMap((list) => buildList({ ...list, next: undefined })),
      ...(more ? [line(words(commandTexts.more))] : []),
    ],
  };
}
