/** Scripts in which a joiner or a selector after a letter changes how it is written; elsewhere it only hides. */
const JOINING = [
  'Arabic',
  'Syriac',
  'Mandaic',
  'Nko',
  'Adlam',
  'Mongolian',
  'Phags_Pa',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Khmer',
  'Myanmar',
  'Tibetan',
]
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');

/** What may stand right after its like in honest prose although it is not seen by itself. */
const BELONGING = [
  `[\\u200C\\u200D](?<=[[${JOINING}]&&[\\p{L}\\p{M}]].)`,
  '[\\u180B-\\u180D\\u180F](?<=\\p{Script=Mongolian}.)',
  '\\u200D(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F].)(?=\\p{Extended_Pictographic})',
  '[\\uFE0E\\uFE0F](?<=[\\p{Extended_Pictographic}\\p{Sm}].)',
  '\\uFE0F(?<=[0-9#*].)(?=\\u20E3)',
  // The flags of England, Scotland and Wales are the only emoji that are spelled with tags.
  `\\u{1F3F4}(?:${['gbeng', 'gbsct', 'gbwls'].map(inTags).join('|')})\\u{E007F}`,
  '[\\u{E0100}-\\u{E01EF}](?<=\\p{Unified_Ideograph}.)',
].join('|');

/** Signs of the Quran and of Arabic numbers are format characters by name, and seen. */
const SEEN = '[\\n\\t\\u0600-\\u0605\\u06DD\\u0890\\u0891\\u08E2\\p{Extended_Pictographic}]';
const HIDDEN = `[[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]--${SEEN}]|\\p{M}(?<=\\p{M}{6})`;
const FIND = new RegExp(`\\r\\n|${BELONGING}|(${HIDDEN})`, 'gsv');
/** Most words need no look. */
const ORDINARY = /^[\n\t\x20-\x7E\xA0-\xAC\xAE-\u02FF\u2010-\u2027\u20A0-\u20BF]*$/;

/**
 * Shows what is hidden in prose as cards do, as `\u{..}`. Unlike there, what honest writing needs stays: the joiners of emoji and
 * of Persian or Indian words, the selectors of emoji and of ideographs, every kind of space, tabs.
 */
export function visibleProse(text: string): string {
  if (ORDINARY.test(text)) return text;
  return text.replace(FIND, (whole, hidden?: string) =>
    hidden === undefined ? whole : `\\u{${(hidden.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function inTags(letters: string): string {
  return String.fromCodePoint(...[...letters].map((letter) => 0xe0000 + (letter.codePointAt(0) ?? 0)));
}
