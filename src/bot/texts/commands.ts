/** Every sentence of the slash command. */
export const commandTexts = {
  usage: [
    'Try one of these:',
    '• `/countersign` – your requests, in one list',
    '• `/countersign waiting`, `asked` or `decided` – one part of that list',
    '• `/countersign ask …` – give me a task',
    '• `/countersign delegate @Bob until Friday` – let someone decide for you',
    '• `/countersign delegations` – who decides for whom',
    '• `/countersign grants` – pre-approved actions',
    '• `/countersign memory` – the notes I keep about this channel',
    'Admins: `/countersign freeze [tool] [reason]` and `/countersign unfreeze [tool]`',
  ].join('\n'),
  yourRequests: 'Your requests',
  more: 'There are more in the Home tab of this app.',
} as const;
