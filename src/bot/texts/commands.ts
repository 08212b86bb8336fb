/** Every sentence of the slash command. */
export const commandTexts = {
  usage:
    'Use `/countersign`, `/countersign waiting`, `/countersign asked`, `/countersign decided`, `/countersign grants`, `/countersign delegations`, `/countersign memory`, `/countersign ask` with a task, or `/countersign delegate @Bob until Friday`; admins also `/countersign freeze` and `/countersign unfreeze`, with a tool and a reason.',
  yourRequests: 'Your requests',
  more: 'There are more in the Home tab of this app.',
} as const;
