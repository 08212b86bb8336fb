import type { Page } from 'playwright-core';

/** Marks what can be used with a mouse, in the dialog if there is one, and returns the names. One Tab stop stands for a group of radio buttons. */
const MARK = `(() => {
  const scope = [...document.querySelectorAll('dialog[open], [role=dialog]')].at(-1) ?? document;
  const usable = [...scope.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')].filter(
    (element) =>
      element.checkVisibility({ visibilityProperty: true }) &&
      !element.disabled &&
      element.tabIndex >= 0 &&
      element.type !== 'radio',
  );
  for (const old of document.querySelectorAll('[data-tab-stop]')) delete old.dataset.tabStop;
  usable.forEach((element, index) => (element.dataset.tabStop = index));
  return usable.map((element) => element.getAttribute('aria-label') ?? element.textContent.slice(0, 60));
})()`;

const IS_IN_DIALOG = `document.querySelector('dialog[open], [role=dialog]') !== null`;

/** The mark of the focused element; an empty one if that is not among the marked ones. */
const FOCUSED = `document.activeElement?.dataset?.tabStop ?? ''`;

/** Goes through the page with Tab, and returns what was not reached; of a dialog also that the focus got out of it. */
export async function findUnreachable(page: Page): Promise<string[]> {
  const names = await page.evaluate<string[]>(MARK);
  const isInDialog = await page.evaluate<boolean>(IS_IN_DIALOG);
  const reached = new Set<string>();
  const problems: string[] = [];
  // Some stops more: the frame of the browser, and messages that came in the meantime.
  for (let presses = 0; presses < names.length * 2 + 10 && reached.size < names.length; presses += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate<string>(FOCUSED);
    if (stop !== '') reached.add(stop);
    else if (isInDialog && (await page.evaluate<boolean>(LEFT_DIALOG))) problems.push('the focus got out');
  }
  const missed = names.filter((_, index) => !reached.has(String(index)));
  return [...new Set(problems), ...missed.map((name) => `not reached: ${name}`)];
}

const LEFT_DIALOG = `document.activeElement !== document.body &&
  document.activeElement?.closest('dialog[open], [role=dialog]') === null`;
