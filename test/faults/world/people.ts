import { setTimeout as sleep } from 'node:timers/promises';
import { CAST } from '../../../playground/slack/default-cast.ts';
import type { Message } from '../../../playground/slack/state/types.ts';
import type { Workspace } from '../../../playground/slack/workspace.ts';
import { threadIdOf } from '../../../src/bot/slack/thread.ts';
import { clickCard } from '../../support/click-card.ts';
import { readEffects } from '../worker/effects.ts';
import { cardOf, hasSigned, type ShownCard } from './cards.ts';
import { RULES } from './cast.ts';
import { decideTogether } from './crowd.ts';
import { DEEDS } from './deeds.ts';
import { type Errand, editedAmount, wordsOf } from './errand.ts';
import { LostWords } from './lost-words.ts';
import type { Signers } from './signers.ts';

const PATIENCE_MS = 3_000;
const LOOK_EVERY_MS = 100;
const HURRY_AFTER_MS = 300;
const SORRY = /Please (?:ask|try) again/;
const STOPPED = /Stopped\./;
const STOPPED_MS = 5_000;
const QUARANTINED = /can't continue this thread/;
/** The requester and a guest, who may not approve anything, and click all the same. */
const UNINVITED = [CAST.requester, CAST.guest];

interface PeopleOptions {
  readonly effectsFile: string;
  /** Whether they have what did not run run again. */
  readonly runsAgain: boolean;
  readonly release: (threadId: string) => Promise<void>;
  readonly signers: Signers;
}

/** The people of the workspace: they ask, look at the cards and click, as impatient as people are. */
export class People {
  readonly #workspace: Workspace;
  readonly #effectsFile: string;
  readonly #runsAgain: boolean;
  readonly #release: (threadId: string) => Promise<void>;
  readonly #signers: Signers;
  readonly #open = new Map<string, Errand>();
  /** Errands of callers, by token. */
  readonly #called = new Map<string, Errand>();
  readonly #lastTry = new Map<string, number>();
  readonly #late = new Set<Promise<unknown>>();
  readonly #busy = new Map<string, Promise<void>>();
  readonly finished = new Set<Errand>();
  readonly lostWords: LostWords;
  /** The last order of each thread. */
  readonly #lastOrder = new Map<string, { readonly ts: string; readonly words: string }>();
  #isOver = false;

  constructor(workspace: Workspace, { effectsFile, runsAgain, release, signers }: PeopleOptions) {
    this.#workspace = workspace;
    this.#effectsFile = effectsFile;
    this.#runsAgain = runsAgain;
    this.#release = release;
    this.#signers = signers;
    this.lostWords = new LostWords(workspace.deliveries);
  }

  get open(): number {
    return this.#open.size + this.#called.size;
  }

  /** Looks out for the cards of what a caller asks for. */
  expect(errand: Errand): void {
    this.#called.set(errand.calls[0]?.token ?? '', errand);
  }

  /** Ends what a caller asked for: it has read the end. */
  finish(errand: Errand): void {
    this.#called.delete(errand.calls[0]?.token ?? '');
    this.finished.add(errand);
  }

  say(errand: Errand): void {
    const words = `<@${this.#workspace.state.app.botUserId}> ${wordsOf(errand)}`;
    const { ts } = this.#workspace.as(CAST.requester).send(errand.channel, words);
    errand.ts = ts;
    this.#open.set(ts, errand);
    this.#lastOrder.set(ts, { ts, words });
    if (errand.hurries) setTimeout(() => this.#hurry(errand), HURRY_AFTER_MS);
  }

  #hurry({ channel, ts }: Errand): void {
    if (!this.#isOver) this.#workspace.as(CAST.requester).send(channel, 'Please hurry.', { threadTs: ts });
  }

  /** Looks and clicks until it is told to stop. */
  async run(): Promise<void> {
    while (!this.#isOver) {
      this.lostWords.look();
      this.#signers.look();
      const { log } = this.#workspace.state;
      for (const errand of this.#open.values()) this.#look(errand, log.repliesTo(errand.channel, errand.ts));
      if (this.#called.size > 0) this.#lookForCallers();
      await sleep(LOOK_EVERY_MS);
    }
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Waits until the clicks on stale screens have been answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#late);
  }

  #look(errand: Errand, replies: readonly Message[]): void {
    const token = errand.calls[0]?.token;
    if (replies.some(({ text, user }) => user !== CAST.requester && text.includes(`Finished ${token}`))) {
      this.#open.delete(errand.ts);
      this.finished.add(errand);
      for (const message of replies) this.#clickOnStaleScreen(message);
      return;
    }
    this.#askAgain(errand, replies);
    this.#retry(errand, replies);
    this.#repeatOrder(errand);
    for (const card of replies.flatMap((message) => cardOf(message) ?? [])) this.#decide(errand, card);
  }

  #lookForCallers(): void {
    for (const message of this.#workspace.state.messages) {
      const card = cardOf(message);
      const errand = card && this.#called.get(/tok-[\w-]+/.exec(card.text)?.[0] ?? '');
      if (card !== undefined && errand !== undefined) this.#decide(errand, card);
    }
  }

  #decide(errand: Errand, card: ShownCard): void {
    for (const who of UNINVITED) this.#try(errand, card, who, 'approve');
    for (const { who, actionId, when = () => true } of DEEDS[errand.intent])
      if (when(card)) this.#try(errand, card, who, actionId);
    if (errand.intent === 'stop' && card.buttons.length > 0) this.#sayStop(errand);
    if (errand.intent === 'crowd' || errand.intent === 'crowd-at-expiry') this.#gather(errand, card);
    this.#resolve(errand, card);
  }

  /** The bot could not get an answer from its model, and said so; or a stop came late and stopped its last words. */
  #askAgain({ channel, ts }: Errand, replies: readonly Message[]): void {
    const sorry = replies.findLast(
      (message) =>
        message.user !== CAST.requester && (SORRY.test(message.text) || this.#isStoppedForGood(message)),
    );
    if (sorry === undefined || this.#lastTry.has(`${sorry.ts} sorry`)) return;
    this.#lastTry.set(`${sorry.ts} sorry`, Date.now());
    this.#workspace.as(CAST.requester).send(channel, 'Please go on.', { threadTs: ts });
  }

  /** Processes that die every second may take a thread with them five times in a row: an admin reads so, and lets it go on. */
  #retry({ channel, ts }: Errand, replies: readonly Message[]): void {
    for (const { ts: noticeTs, text } of replies) {
      if (!QUARANTINED.test(text) || this.#lastTry.has(`${noticeTs} quarantined`)) continue;
      this.#lastTry.set(`${noticeTs} quarantined`, Date.now());
      void this.#release(threadIdOf({ channel, threadTs: ts })).catch(() => {
        this.#lastTry.delete(`${noticeTs} quarantined`);
      });
    }
  }

  /** After a stop the model still has its last words; a while later nothing more comes. */
  #isStoppedForGood({ ts, text }: Message): boolean {
    if (!STOPPED.test(text)) return false;
    const seen = this.#lastTry.get(`${ts} stopped`);
    if (seen === undefined) this.#lastTry.set(`${ts} stopped`, Date.now());
    return seen !== undefined && Date.now() - seen > STOPPED_MS;
  }

  /** Somebody's screen still shows the card as it was, and they approve what is long decided. */
  #clickOnStaleScreen(message: Message): void {
    if (cardOf(message) === undefined) return;
    const { channel, ts } = message;
    const late = this.#workspace.as(CAST.bruno).click({ channel, ts }, 'approve', { force: true });
    this.#late.add(late.catch(() => {}));
  }

  #repeatOrder({ channel, ts }: Errand): void {
    const order = this.#lastOrder.get(ts);
    if (order !== undefined && this.lostWords.has(order.ts)) this.#order(channel, ts, order.words);
  }

  #order(channel: string, threadTs: string, words: string): void {
    const { ts } = this.#workspace.as(CAST.requester).send(channel, words, { threadTs });
    this.#lastOrder.set(threadTs, { ts, words });
  }

  /** Once: said again it would stop the model's last words. */
  #sayStop({ channel, ts }: Errand): void {
    if (this.#lastTry.has(`${ts} stop`)) return;
    this.#lastTry.set(`${ts} stop`, Date.now());
    this.#order(channel, ts, 'stop');
  }

  #gather(errand: Errand, card: ShownCard): void {
    if (!card.buttons.some(({ actionId }) => actionId === 'approve') || !this.#isTime(`${errand.ts} crowd`))
      return;
    this.#late.add(decideTogether(this.#workspace, errand, card).catch(() => {}));
  }

  /** Somebody looks whether it ran, and says so. */
  #resolve(errand: Errand, card: ShownCard): void {
    const button = card.buttons.find(({ actionId }) => actionId === 'ran');
    const call = errand.calls.find(({ token }) => card.text.includes(token));
    if (button === undefined || call === undefined || !this.#isTime(`${button.requestId} resolve`)) return;
    const verdict = () => {
      const ran = readEffects(this.#effectsFile).some(({ token }) => token === call.token);
      const mayRunAgain = card.buttons.some(({ actionId }) => actionId === 'run-again');
      return ran ? 'ran' : mayRunAgain ? this.#wantsAgain(errand) : 'did-not-run';
    };
    // Running again is approving again.
    const who = verdict() === 'run-again' ? (RULES[call.tool]?.signers[0] ?? CAST.admin) : CAST.admin;
    void this.#clickAndFill(card, who, 'ran', () => ({ verdict: verdict(), reason: 'I looked.' }));
  }

  /** Picks "run again" most of the time, where that is safe. */
  #wantsAgain({ calls }: Errand): 'run-again' | 'did-not-run' {
    return this.#runsAgain && (calls[0]?.amount ?? 0) % 8 !== 0 ? 'run-again' : 'did-not-run';
  }

  #isTime(deed: string): boolean {
    if (Date.now() - (this.#lastTry.get(deed) ?? 0) < PATIENCE_MS) return false;
    this.#lastTry.set(deed, Date.now());
    return true;
  }

  #try(errand: Errand, card: ShownCard, who: string, actionId: string): void {
    const button = card.buttons.find((each) => each.actionId === actionId);
    if (button === undefined || (actionId === 'approve' && hasSigned(card, who))) return;
    if (!this.#isTime(`${button.requestId} ${who} ${actionId}`)) return;
    const amount = errand.calls[0]?.amount ?? 0;
    const opensModal: Readonly<Record<string, Record<string, string>>> = {
      reject: { reason: 'so it was' },
      'approve-grant': {},
      edit: { 'field-1': String(editedAmount(amount)) },
    };
    const values = opensModal[actionId];
    const done =
      values === undefined
        ? clickCard(this.#workspace, who, card, actionId)
        : this.#clickAndFill(card, who, actionId, () => values);
    done.catch(() => {});
  }

  /** A person has one modal in front of them at a time, and gives up on one that does not come. */
  #clickAndFill(
    card: ShownCard,
    who: string,
    actionId: string,
    fill: () => Record<string, string>,
  ): Promise<void> {
    const done = (this.#busy.get(who) ?? Promise.resolve()).then(async () => {
      const person = this.#workspace.as(who);
      const before = this.#workspace.modalOf(who);
      if (before !== undefined) await person.close(before.id);
      await clickCard(this.#workspace, who, card, actionId);
      const modal = await this.#workspace.until(() => this.#workspace.modalOf(who), {
        timeoutMs: PATIENCE_MS,
      });
      await person.submit(modal.id, fill());
    });
    const settled = done.catch(() => {});
    this.#busy.set(who, settled);
    return settled;
  }
}
