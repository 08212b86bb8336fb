import { randomUUID } from 'node:crypto';
import type { InteractionOutcome } from '../delivery/delivery.ts';
import type { NewFile } from '../files/file-shelf.ts';
import { LIMITS } from '../limits.ts';
import { addReaction, removeReaction } from '../state/reactions.ts';
import type { Channel, JsonObject, Message, User } from '../state/types.ts';
import { messageOnWire } from '../state/wire.ts';
import { Refusal } from '../web-api/refusal.ts';
import { openAssistantThread, openHome, renameSession, stopSession, viewChannel } from './agent-actions.ts';
import { type ClickOptions, click } from './click.ts';
import { composeMessage } from './compose-message.ts';
import type { InputValue } from './element-values.ts';
import type { ClickTarget } from './find-target.ts';
import { channelNameFor, interactionBase, requireVisibleChannel, type SlackContext } from './interaction.ts';
import { joinChannel, leaveChannel } from './join-channel.ts';
import { NotPossible } from './not-possible.ts';
import { searchOptions } from './search-options.ts';
import { closeView, type SubmitOutcome, submitView } from './submit-view.ts';

const GONE = 'This message no longer exists.';

/** One person at their Slack client; every method throws `NotPossible` for what that person cannot do. */
export class Person {
  readonly id: string;
  readonly #context: SlackContext;

  constructor(context: SlackContext, id: string) {
    this.id = id;
    this.#context = context;
  }

  /** Sends a message; the app gets the events it subscribed to. */
  send(
    channelId: string,
    text: string,
    options: { threadTs?: string; files?: readonly NewFile[] } = {},
  ): Message {
    const channel = this.#requireMembership(channelId);
    const { files = [] } = options;
    if (files.length > LIMITS.messageFiles) throw new NotPossible('Slack sends at most 10 files at a time.');
    if ((text === '' && files.length === 0) || text.length > LIMITS.messageText)
      throw new NotPossible('Slack sends messages of 1 to 40,000 characters.');
    const { threadTs } = options;
    if (threadTs !== undefined && this.#context.state.findMessage(channel.id, threadTs) === undefined) {
      throw new NotPossible(`There is no message ${threadTs} in ${channel.id} to reply to.`, {
        shown: 'The message you replied to no longer exists.',
      });
    }
    const { state } = this.#context;
    const message = {
      ...(text === '' ? { text, blocks: [], attachments: [] } : composeMessage(state, text)),
      channel: channel.id,
      user: this.id,
      client_msg_id: randomUUID(),
      ...(threadTs !== undefined && { thread_ts: threadTs }),
    };
    if (files.length === 0) return state.post(message);
    const uploaded = files.map((file) => state.files.add(this.id, file));
    return state.postFiles(uploaded, message);
  }

  edit(message: { channel: string; ts: string }, text: string): void {
    const own = this.#requireOwn(message);
    this.#context.state.edit(own, composeMessage(this.#context.state, text), this.id);
  }

  delete(message: { channel: string; ts: string }): void {
    this.#context.state.remove(this.#requireOwn(message));
  }

  /** Removes an ephemeral message from this person's screen; the app gets no event. */
  dismiss(message: { channel: string; ts: string }): void {
    const { state } = this.#context;
    const seen = state.ephemerals.find(
      ({ viewer, channel, ts, deleted }) =>
        viewer === this.id && channel === message.channel && ts === message.ts && !deleted,
    );
    if (seen === undefined)
      throw new NotPossible(`${this.id} sees no ephemeral message ${message.ts}.`, { shown: GONE });
    seen.deleted = true;
    state.changed();
  }

  /** Throws when this person cannot see the channel. */
  requireVisibleChannel(channelId: string): void {
    requireVisibleChannel(this.#context, this.#requireActive(), channelId);
  }

  /** Adds a reaction to a message this person can see. */
  react(message: { channel: string; ts: string }, name: string): void {
    if (!addReaction(this.#context.state, this.#requireMessage(message), name, this.id))
      throw new NotPossible(`${this.id} has already reacted with :${name}:.`, {
        shown: `You have already reacted with :${name}:.`,
      });
  }

  unreact(message: { channel: string; ts: string }, name: string): void {
    if (!removeReaction(this.#context.state, this.#requireMessage(message), name, this.id))
      throw new NotPossible(`${this.id} has not reacted with :${name}:.`, {
        shown: `You have not reacted with :${name}:.`,
      });
  }

  join(channelId: string): void {
    const user = this.#requireActive();
    joinChannel(this.#context.state, user, requireVisibleChannel(this.#context, user, channelId));
  }

  leave(channelId: string): void {
    leaveChannel(this.#context.state, this.#requireActive(), this.#requireMembership(channelId));
  }

  /** Invites a person or the bot to a channel this person is in. */
  invite(channelId: string, userId: string): void {
    const channel = this.#requireMembership(channelId);
    const invited = this.#context.state.users.get(userId);
    if (invited === undefined) throw new NotPossible(`There is no user ${userId} in this workspace.`);
    joinChannel(this.#context.state, invited, channel, this.id);
  }

  /** Opens the app's Home or its Messages tab, perhaps with a channel in view. */
  openHome(tab: 'home' | 'messages' = 'home', options: { lookingAt?: string } = {}): void {
    openHome(this.#context, this.#requireActive(), tab, this.#inView(options.lookingAt));
  }

  /** Starts a thread with an app on the older surface for agents. */
  openAssistantThread(options: { lookingAt?: string } = {}): { channel: string; threadTs: string } {
    return openAssistantThread(this.#context, this.#requireActive(), this.#inView(options.lookingAt));
  }

  viewChannel(channelId: string): void {
    const user = this.#requireActive();
    viewChannel(this.#context, user, requireVisibleChannel(this.#context, user, channelId));
  }

  /** Clicks Stop on the session of a thread. */
  stop(thread: { channel: string; threadTs: string }): void {
    const user = this.#requireActive();
    stopSession(
      this.#context,
      user,
      requireVisibleChannel(this.#context, user, thread.channel),
      thread.threadTs,
    );
  }

  renameSession(thread: { channel: string; threadTs: string }, title: string): void {
    const user = this.#requireActive();
    const channel = requireVisibleChannel(this.#context, user, thread.channel);
    renameSession(this.#context, user, channel, thread.threadTs, title);
  }

  /** Types into an external menu; resolves to the app's options. */
  async search(target: ClickTarget, actionId: string, typed: string): Promise<JsonObject[]> {
    return await searchOptions(this.#context, this.#requireActive(), target, actionId, typed);
  }

  /** Clicks a button or chooses in a menu; resolves when the app answered or Slack showed an error. */
  async click(
    target: ClickTarget,
    actionId: string,
    options: ClickOptions = {},
  ): Promise<InteractionOutcome> {
    return await click(this.#context, this.#requireActive(), target, actionId, options);
  }

  /** Chooses the option with this value in an overflow menu, and confirms where the menu asks. */
  async choose(
    target: ClickTarget,
    actionId: string,
    value: string,
    options: Omit<ClickOptions, 'value'> = {},
  ): Promise<InteractionOutcome> {
    return await this.click(target, actionId, { ...options, value });
  }

  /** Fills in and submits the modal in front; `values` are by block or action id. */
  async submit(viewId: string, values: Readonly<Record<string, InputValue>> = {}): Promise<SubmitOutcome> {
    return await submitView(this.#context, this.#requireActive(), viewId, values);
  }

  async close(viewId: string): Promise<void> {
    await closeView(this.#context, this.#requireActive(), viewId);
  }

  /** Chooses a shortcut of the app in the menu of a message. */
  async shortcut(
    reference: { channel: string; ts: string },
    callbackId: string,
  ): Promise<InteractionOutcome> {
    const { state, triggers, responseUrls, deliveries } = this.#context;
    const user = this.#requireActive();
    const message = this.#requireMessage(reference);
    const channel = requireVisibleChannel(this.#context, user, reference.channel);
    if (state.app.shortcuts?.includes(callbackId) !== true)
      throw new NotPossible(`${callbackId} is no shortcut of an app of this workspace.`);
    state.used.scopes.add('commands');
    return await deliveries.deliverInteraction('interactive', {
      type: 'message_action',
      ...interactionBase(this.#context, user),
      callback_id: callbackId,
      action_ts: state.clock.next(),
      trigger_id: triggers.issue(user.id),
      response_url: responseUrls.issue('actions', { userId: this.id, channel: channel.id }),
      message_ts: message.ts,
      message: messageOnWire(state, message),
      channel: { id: channel.id, name: channelNameFor(channel) },
    });
  }

  /** Types a slash command, in the app's direct messages unless another channel is named. */
  async command(command: string, text = '', options: { channel?: string } = {}): Promise<InteractionOutcome> {
    const { state, triggers, responseUrls, deliveries } = this.#context;
    const user = this.#requireActive();
    if (!state.app.commands.includes(command))
      throw new NotPossible(`${command} is not a valid command of this workspace.`);
    const channel = this.#requireMembership(options.channel ?? state.openDirectMessage(this.id).id);
    const target = { userId: this.id, channel: channel.id };
    state.used.scopes.add('commands');
    const outcome = await deliveries.deliverInteraction('slash_commands', {
      token: state.app.verificationToken,
      team_id: state.team.id,
      team_domain: state.team.domain,
      channel_id: channel.id,
      channel_name: channelNameFor(channel),
      user_id: user.id,
      user_name: user.name,
      command,
      text: this.#commandText(command, text),
      api_app_id: state.app.id,
      is_enterprise_install: 'false',
      response_url: responseUrls.issue('commands', target),
      trigger_id: triggers.issue(user.id),
    });
    if (outcome.kind === 'acknowledged' && Object.keys(outcome.payload).length > 0) {
      try {
        responseUrls.respond(target, outcome.payload);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        throw new NotPossible(
          `Slack shows an error instead of the answer to ${command}: ${JSON.stringify(error.answer)}`,
          { shown: `${state.app.name} answered ${command} with something that cannot be shown.` },
        );
      }
    }
    return outcome;
  }

  /** Sets the status in the person's profile; without a text it is cleared. */
  setStatus(text: string, { emoji = '', expiration = 0 } = {}): void {
    const user = this.#requireActive();
    if (text.length > LIMITS.profileStatus)
      throw new NotPossible(`A status has at most ${LIMITS.profileStatus} characters.`);
    user.status = { text, emoji, expiration };
  }

  /** Writes mentions as Slack does: with id and name for a command that wants them escaped, else as a name. */
  #commandText(command: string, text: string): string {
    const { app, users } = this.#context.state;
    const isEscaped = app.escapedCommands?.includes(command) === true;
    return text.replace(/<@([UW][A-Z0-9]+)>/g, (token, id: string) => {
      const name = users.get(id)?.name;
      if (name === undefined) return token;
      return isEscaped ? `<@${id}|${name}>` : `@${name}`;
    });
  }

  #requireActive(): User {
    const user = this.#context.state.users.get(this.id);
    if (user === undefined) throw new NotPossible(`There is no user ${this.id} in this workspace.`);
    if (user.deleted) throw new NotPossible(`${user.name} is deactivated and cannot use Slack.`);
    return user;
  }

  #requireMembership(channelId: string): Channel {
    const user = this.#requireActive();
    const channel = requireVisibleChannel(this.#context, user, channelId);
    if (!channel.members.has(user.id))
      throw new NotPossible(`${user.name} is not in #${channel.name} and cannot write there.`);
    if (channel.is_archived) throw new NotPossible(`#${channel.name} is archived; nobody can write there.`);
    return channel;
  }

  #inView(channelId: string | undefined): Channel | undefined {
    if (channelId === undefined) return undefined;
    return requireVisibleChannel(this.#context, this.#requireActive(), channelId);
  }

  #requireMessage(reference: { channel: string; ts: string }): Message {
    requireVisibleChannel(this.#context, this.#requireActive(), reference.channel);
    const message = this.#context.state.findMessage(reference.channel, reference.ts);
    if (message === undefined)
      throw new NotPossible(`There is no message ${reference.ts} in ${reference.channel}.`, { shown: GONE });
    return message;
  }

  #requireOwn(reference: { channel: string; ts: string }): Message {
    const message = this.#context.state.findMessage(reference.channel, reference.ts);
    if (message === undefined || message.user !== this.id) {
      throw new NotPossible(`${this.id} has no message ${reference.ts} in ${reference.channel} to change.`, {
        shown: 'You can only change your own messages.',
      });
    }
    return message;
  }
}
