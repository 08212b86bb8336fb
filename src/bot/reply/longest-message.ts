/** Slack takes 12,000 characters of Markdown in one message, and what is made harmless grows a little. */
export const LONGEST_MESSAGE = 9_000;
/** What Slack takes in one message once it is harmless. */
export const LONGEST_MARKDOWN = 12_000;
