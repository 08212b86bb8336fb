import type { InputWords } from '../../policy/condition.ts';
import { applyFormat } from '../../tools/presentation/formats.ts';
import type { Presentation } from '../../tools/presentation/presentation.ts';

/** Returns the words that the card of a tool has for its inputs. */
export function inputWords({ labelOf, formatOf }: Presentation): InputWords {
  return {
    label: labelOf,
    write(path, value) {
      const format = formatOf(path);
      return format && applyFormat(value, format)?.text;
    },
  };
}

/** Writes the first letter small, unless it begins an abbreviation. */
export function inSentence(text: string): string {
  return /^\p{Lu}\p{Ll}/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
