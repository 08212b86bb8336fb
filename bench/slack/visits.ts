import { setTimeout as sleep } from 'node:timers/promises';
import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import type { Message } from '../../playground/slack/state/types.ts';
import type { Workspace } from '../../playground/slack/workspace.ts';
import { sharedClock } from '../worker/shared-clock.ts';
import type { MeasuredProcess } from '../worker/start-process.ts';

/** What is waited for in a thread. */
export type Sign = 'card' | 'effect' | 'reply' | 'settled card';

/** A request that waits for its signature. */
export interface Asked {
  readonly thread: string;
  readonly card: string;
  /** From the words to the card. */
  readonly cardMs: number;
}

/** What somebody waited for after a click. */
export interface Clicked {
  readonly acknowledgedMs: number;
  readonly effectMs: number;
  readonly replyMs: number;
}

const REPLY = 'The answer is here.';
const QUIET_MS = 400;
const PATIENCE_MS = 60_000;

/** People in a local Slack with a bot, who note when what they wait for comes; by events, because polling would take the time that is measured. */
export class Visits {
  readonly #workspace: Workspace;
  readonly #waiting = new Map<string, (seen: { at: number; ts: string }) => void>();

  constructor(workspace: Workspace, bot: MeasuredProcess) {
    this.#workspace = workspace;
    bot.onEffect((threadId, at) => this.#saw('effect', threadId.split(':')[1] ?? '', { at, ts: '' }));
    workspace.state.events.on('message', ({ kind, message }) => {
      if (kind === 'deleted' || message.user !== workspace.state.app.botUserId) return;
      const sign = signOf(message, kind);
      if (sign !== undefined) this.#saw(sign, message.thread_ts ?? '', { at: sharedClock(), ts: message.ts });
    });
  }

  /** Somebody asks for what has to be signed, and waits for the card. */
  async ask(): Promise<Asked> {
    const began = sharedClock();
    const { ts: thread } = this.#workspace
      .as(CAST.requester)
      .send(CHANNELS.general, `<@${this.#workspace.state.app.botUserId}> refund order A-1001`);
    const { at, ts: card } = await this.#next('card', thread);
    return { thread, card, cardMs: at - began };
  }

  /** An approver clicks, and everybody waits until all of it has been done and shown. */
  async click({ thread, card }: Asked): Promise<Clicked> {
    const [effect, reply] = [this.#next('effect', thread), this.#next('reply', thread)];
    const settled = this.#next('settled card', thread);
    const began = sharedClock();
    const clicked = this.#workspace.as(CAST.alice).click({ channel: CHANNELS.general, ts: card }, 'approve');
    const outcome = await clicked;
    const acknowledgedMs = sharedClock() - began;
    if (outcome.kind !== 'acknowledged') throw new Error(`A click was not acknowledged: ${outcome.reason}`);
    const [{ at: effectAt }, { at: replyAt }] = await Promise.all([effect, reply]);
    await settled;
    return { acknowledgedMs, effectMs: effectAt - began, replyMs: replyAt - began };
  }

  /** Resolves when the bot has left Slack alone for a while. */
  async quiet(): Promise<void> {
    for (let calls = -1; calls !== this.#workspace.calls.length; ) {
      calls = this.#workspace.calls.length;
      await sleep(QUIET_MS);
    }
  }

  #next(sign: Sign, thread: string): Promise<{ at: number; ts: string }> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new Error(`No ${sign} came within ${PATIENCE_MS} ms in thread ${thread}.`));
      const late = setTimeout(giveUp, PATIENCE_MS);
      this.#waiting.set(`${sign} ${thread}`, (seen) => {
        clearTimeout(late);
        resolve(seen);
      });
    });
  }

  #saw(sign: Sign, thread: string, seen: { at: number; ts: string }): void {
    this.#waiting.get(`${sign} ${thread}`)?.(seen);
    this.#waiting.delete(`${sign} ${thread}`);
  }
}

function signOf({ blocks, text, stream }: Message, kind: 'posted' | 'edited'): Sign | undefined {
  if (text.includes(REPLY)) return stream?.state === 'in_progress' ? undefined : 'reply';
  const shown = JSON.stringify(blocks);
  if (shown.includes('"approve"')) return kind === 'posted' ? 'card' : undefined;
  return kind === 'edited' && shown.includes('refundOrder0') ? 'settled card' : undefined;
}
