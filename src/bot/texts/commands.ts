/** Every sentence of the slash command. */
export const commandTexts = {
  usage: 'Use `/countersign`, `/countersign waiting`, `/countersign asked` or `/countersign decided`.',
  yourRequests: 'Your requests',
  more: 'There are more in the Home tab of this app.',
} as const;
