import type { Locator, Page } from 'playwright-core';

const MAX_TABS = 120;

/** Drives one person's browser window; elements are found by role and name. */
export class PersonPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get messages(): Locator {
    return this.page.getByRole('log', { name: /^Messages in/ });
  }

  get thread(): Locator {
    return this.page.getByRole('region', { name: 'Thread' });
  }

  get sidebar(): Locator {
    return this.page.getByRole('navigation', { name: 'Channels and direct messages' });
  }

  get tour(): Locator {
    return this.page.getByRole('region', { name: 'Tour' });
  }

  get record(): Locator {
    return this.page.getByRole('region', { name: 'Record' });
  }

  get terminal(): Locator {
    return this.page.getByRole('region', { name: 'Terminal' });
  }

  /** The newest card in the open channel with this text: what a job asks for is no reply to anybody. */
  channelCard(text: string | RegExp): Locator {
    return this.messages.getByRole('listitem').filter({ hasText: text }).last();
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog').last();
  }

  /** Opens a step of the tour that is under More. */
  async openStep(title: string): Promise<Locator> {
    const more = this.tour.locator('details.tour-more');
    if ((await more.getAttribute('open')) === null) await more.locator('summary').click();
    const heading = this.page.getByRole('button', { name: title });
    // The tour may open the step by itself in the moment of the click, which then closes it.
    while ((await heading.getAttribute('aria-expanded')) !== 'true') await heading.click();
    return this.tour.getByRole('listitem').filter({ has: heading });
  }

  /** The link of a channel, or of the direct messages with the bot, in the sidebar. */
  conversationLink(name: string | RegExp): Locator {
    return this.sidebar.getByRole('link', { name });
  }

  /** Sends a message that mentions the bot in the open channel. */
  async ask(text: string): Promise<void> {
    await this.page.getByRole('textbox', { name: /^Message/ }).focus();
    await this.mentionBot();
    await this.page.keyboard.insertText(text);
    await this.page.keyboard.press('Enter');
  }

  /** Inserts a mention of the bot at the focus through the `@` suggestions. */
  async mentionBot(): Promise<void> {
    await this.page.keyboard.type('@count');
    await this.page.getByRole('option', { name: /Countersign/i }).waitFor();
    await this.page.keyboard.press('Enter');
    // The page puts the caret behind the name in the next frame; no person is faster than that.
    await this.page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
  }

  /** Sends a reply in the open thread. */
  async reply(text: string): Promise<void> {
    const field = this.thread.getByRole('textbox', { name: 'Reply' });
    await field.fill(text);
    await field.press('Enter');
  }

  /** Opens the newest thread of the open channel whose first message has this text. */
  async openThread(text: string): Promise<void> {
    await this.messages
      .getByRole('listitem')
      .filter({ hasText: text })
      .last()
      .getByRole('link', { name: /repl(y|ies)/ })
      .click();
    await this.thread.getByText(text).first().waitFor();
  }

  /** The newest message of the thread with this text. */
  threadMessage(text: string | RegExp): Locator {
    return this.thread.getByRole('listitem').filter({ hasText: text }).last();
  }

  /** The newest card of the thread on which something can be approved. */
  pendingCard(title: string): Locator {
    // Only what waits has a heading.
    const heading = this.page.getByRole('heading', { name: title });
    return this.thread.getByRole('listitem').filter({ has: heading }).last();
  }

  /** Chooses in the menu of a card. */
  async choose(inside: Locator, item: string): Promise<void> {
    await this.click(inside, 'More actions');
    await inside.getByRole('menuitem', { name: item, exact: true }).click();
  }

  /** Approves a high-risk card, which asks to type what it touches. */
  async approveTyped(card: Locator, target: string): Promise<void> {
    await this.click(card, 'Review and approve…');
    await this.dialog.getByLabel(/^Type /).fill(target);
    await this.dialog.getByRole('button', { name: /^Approve/ }).click();
  }

  async click(inside: Locator, button: string): Promise<void> {
    await inside.getByRole('button', { name: button, exact: true }).click();
  }

  /** Waits until the thread shows this text. */
  async waitForText(text: string | RegExp): Promise<void> {
    await this.thread.getByText(text).last().waitFor();
  }

  /** The newest private notice with this text. */
  notice(text: string | RegExp): Locator {
    return this.page
      .getByRole('listitem')
      .filter({ hasText: 'Only visible to you' })
      .filter({ hasText: text })
      .last();
  }

  async waitForNotice(text: string | RegExp): Promise<void> {
    await this.notice(text).waitFor();
  }

  /** True when any part of the element is inside its scroll area. */
  isInView(target: Locator): Promise<boolean> {
    return target.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      const box = element.closest('[role=log]').getBoundingClientRect();
      return bottom > box.top && top < box.bottom;
    });
  }

  /** Presses Tab until the element has the focus; returns how often. */
  async tabTo(target: Locator): Promise<number> {
    for (let presses = 0; presses < MAX_TABS; presses += 1) {
      if (await this.hasFocus(target)) return presses;
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`the focus did not get to ${target} with ${MAX_TABS} Tabs`);
  }

  hasFocus(target: Locator): Promise<boolean> {
    return target.evaluate((element) => element === element.ownerDocument.activeElement);
  }
}
