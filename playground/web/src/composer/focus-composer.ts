/** The channel's or the thread's composer. */
export type ComposerKind = 'channel' | 'thread';

/** The id of a composer's field. */
export function composerId(composer: ComposerKind): string {
  return `composer-${composer}`;
}

/** Focuses a composer after the next render. */
export function focusComposer(composer: ComposerKind): void {
  window.requestAnimationFrame(() => document.getElementById(composerId(composer))?.focus());
}
