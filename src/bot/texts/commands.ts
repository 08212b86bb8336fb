/** Every sentence of the slash command. */
export const commandTexts = {
  usage:
    'Use `/countersign`, `/countersign waiting`, `/countersign asked`, `/countersign decided`, `/countersign memory`, or `/countersign ask` with a task.',
  yourRequests: 'Your requests',
  more: 'There are more in the Home tab of this app.',
} as const;
