/** A number in a JSON text that parsing changes, with its path. */
export interface LossyNumber {
  readonly path: string;
  readonly literal: string;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\]:,]/gs;

/**
 * Finds the first number of a valid JSON text that JavaScript cannot hold as written: one out of range, which would become `null`, or
 * one so large that its digits change. A small number with many decimals is only rounded and counts as exact.
 */
export function findLossyNumber(text: string): LossyNumber | undefined {
  const path: (string | number)[] = [];
  let latest = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const here = path.length - 1;
    const step = path[here];
    switch (token) {
      case '{':
      case '[':
        path.push(token === '[' ? 0 : '');
        break;
      case '}':
      case ']':
        path.pop();
        break;
      case ':':
        path[here] = latest.slice(1, -1);
        break;
      case ',':
        if (typeof step === 'number') path[here] = step + 1;
        break;
      default:
        if (!token.startsWith('"') && !isExact(token)) return { path: path.join('.'), literal: token };
        latest = token;
    }
  }
  return undefined;
}

function isExact(literal: string): boolean {
  const number = Number(literal);
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return true;
  // People approve the text of the number and the tool is sent that text, which can have fewer digits than the number.
  return Number.isFinite(number) && normalize(literal) === normalize(String(number));
}

/** Gives the same text for every way to write a number, ignoring its sign. */
function normalize(literal: string): string {
  const [mantissa = '', exponent = '0'] = literal.replace('-', '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = `${whole}${fraction}`;
  const isZero = (index: number) => digits[index] === '0';
  let start = 0;
  while (isZero(start)) start += 1;
  let end = digits.length;
  while (isZero(end - 1)) end -= 1;
  return `${digits.slice(start, end)}e${Number(exponent) + digits.length - end - fraction.length}`;
}
