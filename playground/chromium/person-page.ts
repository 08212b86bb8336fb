import type { Locator, Page } from 'playwright-core';

const MAX_TABS = 120;

/** What a person sees and does in their window, found by role and name as they would find it. */
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

  get dialog(): Locator {
    return this.page.getByRole('dialog').last();
  }

  /** The link of a channel, or of the direct messages with the bot, in the sidebar. */
  conversationLink(name: string | RegExp): Locator {
    return this.sidebar.getByRole('link', { name });
  }

  /** Mentions the bot in the open channel and says something to it. */
  async ask(words: string): Promise<void> {
    await this.page.getByRole('textbox', { name: /^Message/ }).focus();
    await this.mentionBot();
    await this.page.keyboard.insertText(words);
    await this.page.keyboard.press('Enter');
  }

  /** Writes the bot's name where the focus is, by the suggestion that comes with the `@`. */
  async mentionBot(): Promise<void> {
    await this.page.keyboard.type('@count');
    await this.page.getByRole('option', { name: /Countersign/i }).waitFor();
    await this.page.keyboard.press('Enter');
    // The page puts the caret behind the name in the next frame; no person is faster than that.
    await this.page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
  }

  /** Says something in the open thread. */
  async reply(words: string): Promise<void> {
    const field = this.thread.getByRole('textbox', { name: 'Reply' });
    await field.fill(words);
    await field.press('Enter');
  }

  /** Opens the newest thread of the open channel that was begun with these words. */
  async openThread(words: string): Promise<void> {
    await this.messages
      .getByRole('listitem')
      .filter({ hasText: words })
      .last()
      .getByRole('link', { name: /repl(y|ies)/ })
      .click();
    await this.thread.getByText(words).first().waitFor();
  }

  /** The newest message of the thread with these words. */
  threadMessage(words: string | RegExp): Locator {
    return this.thread.getByRole('listitem').filter({ hasText: words }).last();
  }

  /** The newest card of the thread on which something can be approved. */
  pendingCard(tool: string): Locator {
    return this.threadMessage(`Approval needed: ${tool}`);
  }

  async click(inside: Locator, button: string): Promise<void> {
    await inside.getByRole('button', { name: button, exact: true }).click();
  }

  /** Waits until the thread shows these words. */
  async waitForText(words: string | RegExp): Promise<void> {
    await this.thread.getByText(words).last().waitFor();
  }

  /** The newest message with these words that only this person sees. */
  notice(words: string | RegExp): Locator {
    return this.page
      .getByRole('listitem')
      .filter({ hasText: 'Only visible to you' })
      .filter({ hasText: words })
      .last();
  }

  async waitForNotice(words: string | RegExp): Promise<void> {
    await this.notice(words).waitFor();
  }

  /** Whether any of it is inside the box that scrolls it. */
  isInView(target: Locator): Promise<boolean> {
    return target.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      const box = element.closest('[role=log]').getBoundingClientRect();
      return bottom > box.top && top < box.bottom;
    });
  }

  /** Presses Tab until the focus is there, as somebody without a mouse does. */
  async tabTo(target: Locator): Promise<void> {
    for (let presses = 0; presses < MAX_TABS; presses += 1) {
      if (await this.hasFocus(target)) return;
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`the focus did not get to ${target} with ${MAX_TABS} Tabs`);
  }

  hasFocus(target: Locator): Promise<boolean> {
    return target.evaluate((element) => element === element.ownerDocument.activeElement);
  }
}
