/** Finds the id of an order, such as `A-1001`, in several spellings. */
export function parseOrderId(words: string): string | undefined {
  const [, digits] =
    /\bA[-\s]?(\d{4,})\b/i.exec(words) ?? /(?:#|\border\s+(?:number\s+)?)(\d{4,})\b/i.exec(words) ?? [];
  return digits === undefined ? undefined : `A-${digits}`;
}

/** Finds an amount of money in cents; "all of it" and "half" refer to `whole`. */
export function parseAmount(words: string, whole: number): number | undefined {
  const text = words.replace(/(?:\bA[-\s]?|#|\border\s+(?:number\s+)?)\d{4,}\b/gi, '');
  const [, cents] = /([\d,]+)\s*cents?\b/i.exec(text) ?? [];
  if (cents !== undefined) return positive(toNumber(cents));
  const [, number] =
    /(?:[$€£]|\busd|\beur)\s*([\d,]+(?:\.\d{1,2})?)/i.exec(text) ??
    /([\d,]+(?:\.\d{1,2})?)\s*(?:[$€£]|usd\b|eur\b|dollars?\b|euros?\b|bucks\b)/i.exec(text) ??
    /(?<![\w.-])([\d,]*\d(?:\.\d{1,2})?)(?![\w-]|\.\d)/.exec(text) ??
    [];
  if (number !== undefined) return positive(Math.round(toNumber(number) * 100));
  if (/\bhalf\b/i.test(text)) return positive(Math.floor(whole / 2));
  if (/\b(?:all|everything|whole|entire|fully?|complete(?:ly)?)\b/i.test(text)) return positive(whole);
  return undefined;
}

/** Finds the reason at the end of a sentence; empty when there is none. */
export function parseReason(words: string): string {
  const [, reason = ''] = /(?:\bbecause\b|\bsince\b|,\s)\s*([^,]+)$/i.exec(words.trim()) ?? [];
  return /\brefund|\bA-?\d{4,}/i.test(reason) ? '' : reason.trim().replace(/[.!?]+$/, '');
}

/** Finds the text in quotes, or else after a colon. */
export function parseQuoted(words: string): string | undefined {
  const [, quoted] = /["“”„]([^"“”„]+)["“”„]/.exec(words) ?? /:\s+(\S[\s\S]*)$/.exec(words) ?? [];
  return quoted?.trim();
}

/** Formats cents as dollars. */
export function formatMoney(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}

function toNumber(digits: string): number {
  return Number(digits.replaceAll(',', ''));
}

function positive(cents: number): number | undefined {
  return cents > 0 ? cents : undefined;
}
