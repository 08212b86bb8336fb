/** Slack's limits on what the bot sends, and our own tighter ones. */
export const limits = {
  /** Slack's limits: characters, elements and blocks. */
  messageBlocks: 50,
  messageBlockCharacters: 13_000,
  messageText: 4_000,
  markdownText: 12_000,
  tableRows: 100,
  tableColumns: 20,
  /** Of all tables of a message together. */
  tableCharacters: 10_000,
  /** Ours: the part of a message that is streamed, which leaves room for the end of a code block. */
  streamedText: 11_500,
  /** The length of a status line. */
  statusLine: 100,
  /** The length of a session's title; Slack allows 200. */
  sessionTitle: 80,
  /** The length of a step's title; Slack allows 256. */
  stepTitle: 150,
  accessibilityLabel: 75,
  viewBlocks: 100,
  viewTitle: 24,
  viewButton: 24,
  privateMetadata: 3_000,
  blockId: 255,
  header: 150,
  sectionText: 3_000,
  sectionFields: 10,
  sectionFieldText: 2_000,
  contextElements: 10,
  contextText: 2_000,
  preformattedText: 3_000,
  actionsElements: 25,
  buttonText: 75,
  optionText: 75,
  selectOptions: 100,
  optionGroups: 100,
  checkboxes: 10,
  confirmTitle: 100,
  confirmText: 300,
  inputText: 3_000,
  inputLabel: 2_000,
  inputHint: 2_000,
  /** The range of a date and time picker, in seconds. */
  earliestMoment: 1_000_000_000,
  latestMoment: 9_999_999_999,

  /** Our limits: what people take in at a glance, so that nothing is approved unseen. */
  fallbackText: 300,
  description: 300,
  argumentCharacters: 2_500,
  argumentLines: 40,
  contextCharacters: 1_200,
  contextLines: 12,
  quoteCharacters: 600,
  quoteLines: 8,
  questionCharacters: 2_500,
  questionLines: 30,
  answerCharacters: 1_000,
  mentions: 20,
  /** Three blocks each, beside a title, a sentence and the number of the others. */
  summaryRows: 15,
  choiceButtons: 5,
  menuCharacters: 4_000,
  choiceListCharacters: 3_000,
  label: 150,
  status: 60,
  hint: 500,
  reason: 1_000,
  errorText: 200,
  formFields: 50,
  depth: 200,
  detailsPageCharacters: 9_000,
  /** The raw text of one reply message; sanitizing makes it a little longer. */
  replyText: 9_000,
  replyMessages: 10,
  /** Slack ends a stream after about five minutes; ours ends earlier, and the rest is an update. */
  streamMs: 240_000,
} as const;
