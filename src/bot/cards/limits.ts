/** Slack's limits on what the bot sends, in characters or elements. */
export const limits = {
  buttonText: 75,
  sectionText: 3000,
  preformattedText: 3000,
  actionsElements: 25,
  messageText: 4000,
} as const;
