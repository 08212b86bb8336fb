import { escapeInvisible } from './escape-invisible.ts';

/**
 * Sanitizes the model's Markdown. It keeps its formatting, but cannot mention anybody, hide the target of a link, hide or reverse
 * text, or use Slack's own markup, which always starts with `<`.
 */
export function sanitizeMarkdown(text: string): string {
  return (
    escapeInvisible(text)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replace(/!?\[([^\]\n]*)\]\(\s*([^)\s]+)[^)\n]*\)/g, (_whole, label: string, target: string) =>
        label.trim() === '' || label === target ? target : `${label} (${target})`,
      )
      // Any other link, or definition of a link target, has a bracket right before one of these.
      .replace(/\](?=[(:])/g, '] ')
  );
}

/** Returns how much of a growing text can be sanitized already; an unclosed link has to wait. */
export function sanitizableLength(text: string): number {
  const lineStart = text.lastIndexOf('\n') + 1;
  const open = text.indexOf('[', lineStart);
  const end = open === -1 ? text.length : open;
  // A line that starts like a link definition waits until it is complete.
  const lastBreak = Math.max(text.lastIndexOf(' ', end - 1), text.lastIndexOf('\n', end - 1));
  return open === -1 ? lastBreak + 1 : open;
}
