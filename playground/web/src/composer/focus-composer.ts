/** Which of the two composers that can be on the screen at once. */
export type ComposerPlace = 'channel' | 'thread';

/** The id of a composer's field. */
export function composerId(place: ComposerPlace): string {
  return `composer-${place}`;
}

/** Moves the focus into a composer, once what is being opened is drawn. */
export function focusComposer(place: ComposerPlace): void {
  window.requestAnimationFrame(() => document.getElementById(composerId(place))?.focus());
}
