import { plural } from '../cards/values/render-value.ts';

/** Every sentence about the notes that the agent keeps. */
export const memoryTexts = {
  title: 'Notes I keep',
  channelTitle: 'Notes I keep about this channel',
  about: (channel: string) =>
    /^[CG][A-Z0-9]+$/.test(channel) ? `About <#${channel}>` : 'About direct messages',
  none: 'No notes.',
  more: (count: number) => `${plural(count, 'older note')} not shown.`,
  remove: 'Remove',
  removeNote: (text: string) => `Remove the note: ${text}`,
  removed: 'The note is removed.',
  gone: 'This note no longer exists.',
  notYours: 'You can only remove this note in its own channel. Run /countersign memory there.',
  off: "I don't keep notes. An admin can turn this on with agent.memory in manifest.yml.",
} as const;
