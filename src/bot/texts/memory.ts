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
  notYours: 'You can remove notes in their channel, with /countersign memory.',
  off: "I don't keep notes. An admin can switch it on with agent.memory.",
} as const;
