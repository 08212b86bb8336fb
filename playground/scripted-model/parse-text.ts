/** Finds the id of an order, such as `A-1001`, in several spellings. */
export function parseOrderId(text: string): string | undefined {
  const [, digits] =
    /\bA[-\s]?(\d{4,})\b/i.exec(text) ?? /(?:#|\border\s+(?:number\s+)?)(\d{4,})\b/i.exec(text) ?? [];
  return digits === undefined ? undefined : `A-${digits}`;
}

/** Finds an amount of money in cents; "all of it" and "half" refer to `whole`. */
export function parseAmount(text: string, whole: number): number | undefined {
  const rest = text.replace(/(?:\bA[-\s]?|#|\border\s+(?:number\s+)?)\d{4,}\b/gi, '');
  const [, cents] = /([\d,]+)\s*cents?\b/i.exec(rest) ?? [];
  if (cents !== undefined) return positive(toNumber(cents));
  const [, number] =
    /(?:[$€£]|\busd|\beur)\s*([\d,]+(?:\.\d{1,2})?)/i.exec(rest) ??
    /([\d,]+(?:\.\d{1,2})?)\s*(?:[$€£]|usd\b|eur\b|dollars?\b|euros?\b|bucks\b)/i.exec(rest) ??
    /(?<![\w.-])([\d,]*\d(?:\.\d{1,2})?)(?![\w-]|\.\d)/.exec(rest) ??
    [];
  if (number !== undefined) return positive(Math.round(toNumber(number) * 100));
  if (/\bhalf\b/i.test(rest)) return positive(Math.floor(whole / 2));
  if (/\b(?:all|everything|whole|entire|fully?|complete(?:ly)?)\b/i.test(rest)) return positive(whole);
  return undefined;
}

/** Finds the reason at the end of a sentence; empty when there is none. */
export function parseReason(text: string): string {
  const [, reason = ''] = /(?:\bbecause\b|\bsince\b|,\s)\s*([^,]+)$/i.exec(text.trim()) ?? [];
  return /\brefund|\bA-?\d{4,}/i.test(reason) ? '' : reason.trim().replace(/[.!?]+$/, '');
}

/** Finds the text in quotes, or else after a colon. */
export function parseQuoted(text: string): string | undefined {
  const [, quoted] = /["“”„]([^"“”„]+)["“”„]/.exec(text) ?? /:\s+(\S[\s\S]*)$/.exec(text) ?? [];
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
