/** Which of the two composers that can be on the screen at once. */
export type ComposerKind = 'channel' | 'thread';

/** The id of a composer's field. */
export function composerId(composer: ComposerKind): string {
  return `composer-${composer}`;
}

/** Moves the focus into a composer, once what is being opened is drawn. */
export function focusComposer(composer: ComposerKind): void {
  window.requestAnimationFrame(() => document.getElementById(composerId(composer))?.focus());
}
