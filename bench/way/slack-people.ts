import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import type { Message } from '../../playground/slack/state/types.ts';
import type { Workspace } from '../../playground/slack/workspace.ts';

/** A request whose card is shown. */
export interface PendingCard {
  readonly thread: string;
  readonly ts: string;
  readonly actionId: string;
  /** From the message to the card. */
  readonly cardMs: number;
}

/** Times from a click on "Approve". */
export interface ApprovalTimes {
  readonly acknowledgedMs: number;
  readonly replyMs: number;
  readonly settledMs: number;
}

type Milestone = 'card' | 'reply' | 'settled card';
interface Sighting {
  readonly at: number;
  readonly message: Message;
}

const Buttons = z.array(
  z.looseObject({ action_id: z.string().optional(), text: z.looseObject({ text: z.string() }).optional() }),
);

/** The final text of the bench's model. */
const REPLY = 'The answer is here.';
const QUIET_MS = 400;
const TIMEOUT_MS = 60_000;

/** People in a local Slack who use a bot and note, by events, when they see what they wait for. */
export class SlackPeople {
  readonly #workspace: Workspace;
  readonly #waiting = new Map<string, (sighting: Sighting) => void>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    workspace.state.events.on('message', ({ kind, message }) => {
      if (kind === 'deleted' || message.user !== workspace.state.app.botUserId) return;
      const milestone = milestoneOf(message, kind);
      if (milestone === undefined) return;
      const key = `${milestone} ${message.thread_ts ?? ''}`;
      this.#waiting.get(key)?.({ at: performance.now(), message });
      this.#waiting.delete(key);
    });
  }

  /** Asks for something that needs approval, in a thread or in a new one, and waits for the card. */
  async request(threadTs?: string): Promise<PendingCard> {
    const startedAt = performance.now();
    const { ts } = this.#workspace
      .as(CAST.requester)
      .send(CHANNELS.general, `<@${this.#workspace.state.app.botUserId}> refund order A-1001`, {
        ...(threadTs !== undefined && { threadTs }),
      });
    const thread = threadTs ?? ts;
    const { at, message } = await this.#next('card', thread);
    const actionId = approveAction(message) ?? '';
    return { thread, ts: message.ts, actionId, cardMs: at - startedAt };
  }

  /** Clicks on "Approve", and waits until the reply is complete and the card shows the outcome. */
  async approve({ thread, ts, actionId }: PendingCard): Promise<ApprovalTimes> {
    const [reply, settled] = [this.#next('reply', thread), this.#next('settled card', thread)];
    const startedAt = performance.now();
    const outcome = await this.#workspace.as(CAST.alice).click({ channel: CHANNELS.general, ts }, actionId);
    const acknowledgedMs = performance.now() - startedAt;
    if (outcome.kind !== 'acknowledged') throw new Error(`A click was not acknowledged: ${outcome.reason}`);
    const [{ at: replyAt }, { at: settledAt }] = await Promise.all([reply, settled]);
    return { acknowledgedMs, replyMs: replyAt - startedAt, settledMs: settledAt - startedAt };
  }

  /** Resolves when the bot has not called Slack for a while. */
  async untilQuiet(): Promise<void> {
    for (let calls = -1; calls !== this.#workspace.calls.length; ) {
      calls = this.#workspace.calls.length;
      await sleep(QUIET_MS);
    }
  }

  #next(milestone: Milestone, thread: string): Promise<Sighting> {
    return new Promise((resolve, reject) => {
      const giveUp = () =>
        reject(new Error(`No ${milestone} after ${TIMEOUT_MS} ms.\n${this.#workspace.describe()}`));
      const timeout = setTimeout(giveUp, TIMEOUT_MS);
      this.#waiting.set(`${milestone} ${thread}`, (sighting) => {
        clearTimeout(timeout);
        resolve(sighting);
      });
    });
  }
}

function milestoneOf(message: Message, kind: 'posted' | 'edited'): Milestone | undefined {
  if (message.text.includes(REPLY)) return message.stream?.state === 'in_progress' ? undefined : 'reply';
  if (approveAction(message) !== undefined) return kind === 'posted' ? 'card' : undefined;
  return kind === 'edited' ? 'settled card' : undefined;
}

/** Returns the action of the button that people know as "Approve", whatever its id is. */
function approveAction({ blocks }: Message): string | undefined {
  for (const block of blocks) {
    const elements = Buttons.safeParse(block.elements);
    const button = elements.data?.find(({ text }) => text?.text === 'Approve');
    if (button !== undefined) return button.action_id;
  }
  return undefined;
}
