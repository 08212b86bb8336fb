/** Slack's documented and observed limits; every check reads them from here and nowhere else. */
export const LIMITS = {
  messageText: 40_000,
  updateText: 4_000,
  messageAttachments: 100,
  messageBlocks: 50,
  messageBlockCharacters: 13_000,
  viewBlocks: 100,
  viewBytes: 250_000,
  viewStack: 3,
  viewTitle: 24,
  viewButton: 24,
  privateMetadata: 3_000,
  callbackId: 255,
  externalId: 255,
  blockId: 255,
  actionId: 255,
  text: 3_000,
  header: 150,
  markdown: 12_000,
  sectionFields: 10,
  sectionField: 2_000,
  actionsElements: 25,
  contextElements: 10,
  contextActionsElements: 5,
  imageAlt: 2_000,
  imageTitle: 2_000,
  imageUrl: 3_000,
  inputLabel: 2_000,
  inputHint: 2_000,
  inputText: 3_000,
  inputLines: 100,
  placeholder: 150,
  buttonText: 75,
  buttonValue: 2_000,
  buttonUrl: 3_000,
  accessibilityLabel: 75,
  selectOptions: 100,
  selectOptionGroups: 100,
  groupLabel: 75,
  optionText: 75,
  optionValue: 150,
  optionDescription: 75,
  optionUrl: 3_000,
  choiceOptions: 10,
  overflowOptions: 5,
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,
  tableRows: 100,
  tableColumns: 20,
  dataTableRows: 101,
  dataTablePage: 100,
  tableCharacters: 10_000,
  cardHeading: 150,
  cardBody: 200,
  carouselCards: 10,
  containerHeading: 150,
  containerBlocks: 10,
  fileInputFiles: 10,
  messageFiles: 10,
  fileBytes: 1024 ** 3,
  fileAlt: 1_000,
  richTextIndent: 8,
  statusLoadingMessages: 10,
  profileStatus: 100,
  suggestedPrompts: 4,
  sessionTitle: 200,
  taskTitle: 256,
  taskId: 255,
  fileId: 255,
  directMessageUsers: 8,
  historyPage: 999,
  socketConnections: 10,
  responseUrlUses: 5,
} as const;

/** Slack's timeouts in milliseconds; tests may shorten them. */
export interface Timings {
  acknowledgement: number;
  triggerLife: number;
  responseUrlLife: number;
  socketTicketLife: number;
  socketPing: number;
  /** Time until Slack closes a connection that was asked to refresh. */
  socketDrain: number;
  /** Delay before each redelivery of an unacknowledged event. */
  eventRetries: readonly number[];
  /** Lifetime of a stream from its start, however active it is. */
  streamLife: number;
  /** Time until a session in `processing` returns to `active` by itself. */
  sessionProcessing: number;
}

/** Slack's own timings: three seconds to answer, then redelivery immediately, after one minute and after five. */
export const SLACK_TIMINGS: Timings = {
  acknowledgement: 3_000,
  triggerLife: 3_000,
  responseUrlLife: 30 * 60_000,
  socketTicketLife: 30_000,
  socketPing: 10_000,
  socketDrain: 10_000,
  eventRetries: [0, 60_000, 300_000],
  streamLife: 300_000,
  sessionProcessing: 3_600_000,
};
