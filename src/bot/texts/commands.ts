/** Every sentence of the slash command. */
export const commandTexts = {
  usage:
    'Use `/countersign`, `/countersign waiting`, `/countersign asked`, `/countersign decided`, `/countersign ask …` or `/countersign memory`.',
  yourRequests: 'Your requests',
  more: 'There are more in the Home tab of this app.',
} as const;
