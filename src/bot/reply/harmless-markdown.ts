import { visibleProse } from './visible-prose.ts';

/**
 * Takes the teeth out of a model's Markdown: it keeps its formatting, but cannot mention anybody, cannot hide where a link leads,
 * cannot hide or turn words and cannot smuggle Slack's own markup in. `<` begins every one of Slack's mentions, links and dates.
 */
export function harmlessMarkdown(text: string): string {
  return (
    visibleProse(text)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replace(/!?\[([^\]\n]*)\]\(\s*([^)\s]+)[^)\n]*\)/g, (_whole, label: string, target: string) =>
        label.trim() === '' || label === target ? target : `${label} (${target})`,
      )
      // Whatever else would be a link, or name a target for one, begins with a bracket right before one of these.
      .replace(/\](?=[(:])/g, '] ')
  );
}

/** How much of a text that is still growing can be made harmless already: a link that is not closed has to wait. */
export function settledLength(text: string): number {
  const lineStart = text.lastIndexOf('\n') + 1;
  const open = text.indexOf('[', lineStart);
  const end = open === -1 ? text.length : open;
  // A line that begins like a link's definition waits until it is whole.
  const lastBreak = Math.max(text.lastIndexOf(' ', end - 1), text.lastIndexOf('\n', end - 1));
  return open === -1 ? lastBreak + 1 : open;
}
