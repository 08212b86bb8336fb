/** Scripts in which a joiner or a selector changes the letter before it; elsewhere it is only invisible. */
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

/** Invisible characters that honest text needs in these places. */
const BELONGING = [
  `[\\u200C\\u200D](?<=[[${JOINING}]&&[\\p{L}\\p{M}]].)`,
  '[\\u180B-\\u180D\\u180F](?<=\\p{Script=Mongolian}.)',
  '\\u200D(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F].)(?=\\p{Extended_Pictographic})',
  '[\\uFE0E\\uFE0F](?<=[\\p{Extended_Pictographic}\\p{Sm}].)',
  '\\uFE0F(?<=[0-9#*].)(?=\\u20E3)',
  // The flags of England, Scotland and Wales are the only emoji with tag characters.
  `\\u{1F3F4}(?:${['gbeng', 'gbsct', 'gbwls'].map(inTags).join('|')})\\u{E007F}`,
  '[\\u{E0100}-\\u{E01EF}](?<=\\p{Unified_Ideograph}.)',
].join('|');

/** Format characters that are visible: signs of the Quran and of Arabic numbers. */
const SEEN = '[\\n\\t\\u0600-\\u0605\\u06DD\\u0890\\u0891\\u08E2\\p{Extended_Pictographic}]';
const HIDDEN = `[[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]--${SEEN}]|\\p{M}(?<=\\p{M}{6})`;
const FIND = new RegExp(`\\r\\n|${BELONGING}|(${HIDDEN})`, 'gsv');
/** Text that needs no closer look. */
const ORDINARY = /^[\n\t\x20-\x7E\xA0-\xAC\xAE-\u02FF\u2010-\u2027\u20A0-\u20BF]*$/;

/**
 * Escapes invisible characters as `\u{..}`, as cards do. Unlike there, the ones that honest text needs stay: joiners of emoji and of
 * Persian or Indian words, selectors of emoji and ideographs, all spaces, and tabs.
 */
export function escapeInvisible(text: string): string {
  if (ORDINARY.test(text)) return text;
  return text.replace(FIND, (whole, hidden?: string) =>
    hidden === undefined ? whole : `\\u{${(hidden.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

function inTags(letters: string): string {
  return String.fromCodePoint(...[...letters].map((letter) => 0xe0000 + (letter.codePointAt(0) ?? 0)));
}
