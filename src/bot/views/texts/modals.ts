import type { FormatCall } from '../../../tools/presentation/formats.ts';

/** The name of what is entered in each format. */
const ENTERED: Readonly<Record<string, (args: readonly string[]) => string>> = {
  money: ([currency = '']) => `an amount in ${currency}`,
  percent: () => 'a percentage',
  date: () => 'a date and time',
  duration: () => 'a duration',
  bytes: () => 'a size',
};

/** Every sentence of the modals. */
export const modalTexts = {
  cancel: 'Cancel',
  close: 'Close',
  submit: 'Submit',
  noAnswer: 'Please give an answer.',
  someone: 'somebody else',
  notAChoice: "This isn't one of the choices.",
  eitherOr: 'Please either choose or write, not both.',
  fillThisIn: 'Please fill this in.',
  notANumber: (shown: string) => `"${shown}" is not a number. Enter one such as 12 or 12.5.`,
  entry: ({ name, args }: FormatCall, example: string) =>
    `${ENTERED[name]?.(args) ?? 'a value'}, such as ${example}`,
  enter: (what: string) => `Enter ${what}.`,
  bounds: {
    minimum: (bound: string) => `Enter at least ${bound}.`,
    exclusiveMinimum: (bound: string) => `Enter more than ${bound}.`,
    maximum: (bound: string) => `Enter at most ${bound}.`,
    exclusiveMaximum: (bound: string) => `Enter less than ${bound}.`,
  },
  tooManyDigits: 'This number has too many digits to store exactly. Use fewer digits.',
  notJson: (why: string) => `This is not JSON: ${why}`,
  tooDeep: (levels: number) => `This is nested more than ${levels} levels deep.`,
  lossyNumber: (literal: string) => `The number ${literal} can't be stored exactly. Put it in quotes.`,
  chooseOne: 'Please choose one.',

  answerTitle: 'Answer',
  chooseLabel: (several: boolean) => (several ? 'Choose one or more' : 'Choose'),
  yourAnswer: (isAlone: boolean) => (isAlone ? 'Your answer' : 'Or in your own words'),

  askTitle: 'Ask about this',
  ask: 'Ask',
  askIntro: (text: string) => `The message:\n${text}`,
  askTask: 'What should I do? Everyone in the channel can read it.',

  approveTitle: 'Approve',
  approve: 'Approve',
  approveIntro: (title: string) => `${title}? This is a high-risk action.`,
  onceRun: (undo: string) => `Once run, this${undo}.`,
  typeTarget: (target: string) => `Type ${target} to approve`,
  wrongTarget: "This doesn't match. Nothing was approved.",

  commentedIntro: (title: string) => `${title}?`,
  comment: 'Comment (optional). The requester and the agent will read it.',

  rejectTitle: 'Reject',
  reject: 'Reject',
  rejectIntro: (title: string) => `You're about to reject: ${title}`,
  rejectReason: 'Why? The requester and the agent will read it.',
  reasonMissing: 'Please give a reason.',

  resolveTitle: 'Outcome unknown',
  save: 'Save',
  resolveIntro: (title: string) => `${title}: it was started, and its outcome is unknown.`,
  whatHappened: 'What happened?',
  howKnown: 'How do you know? The requester and the agent will read it.',
  ran: 'It ran',
  didNotRun: "It didn't run",
  runAgain: 'Run it again (if it did run, it takes effect twice)',

  editTitle: 'Edit',
  editIntro: (title: string) => `${title}\nYour changes replace this request and need a new approval.`,
  notEditable: "This request can't be edited.",
  tooLong: (name: string, length: string, most: string) =>
    `"${name}" has ${length}, but Slack forms allow at most ${most}`,
  tooLongToEdit: (problem: string) =>
    `${problem}, so it can't be edited here. Reject it with a reason, and the agent can propose a corrected version.`,
  tooLongToShow: (problem: string) => `${problem}, so the form can't be shown.`,
  formTitle: 'Form',
  asJson: '(as JSON)',
  onePerLine: '(one on each line)',

  linkTitle: 'Open a link',
  askedBy: (server: string) => `The MCP server ${server} asks you to open a page.`,
  opens: 'It opens ',
  openLink: 'Open link',
  continueAfter: "Choose Continue once you're done there.",
  continue: 'Continue',

  detailsTitle: 'Details',
  unreadable: "This request can't be shown.",
  openPage: 'Open as a page, with its audit log',
  page: (page: number, pages: number) => `Page ${page} of ${pages}`,
  previousPage: 'Previous page',
  nextPage: 'Next page',
  policyName: (name: string) => `Policy: ${name}`,
  toolName: (name: string) => `Tool: ${name}`,
  whoCanDecide: 'Who can decide: ',
  description: 'What this does',
  question: 'Question',
  choices: 'Choices',
  arguments: (isPending: boolean) => (isPending ? 'Arguments, exactly as they will run' : 'Arguments'),
  original: 'Original arguments, before the edit',
  explanation: "Agent's explanation (unverified)",
  files: 'Files the agent read',
  result: 'Result',
  previewBefore: 'Preview: before',
  previewAfter: 'Preview: after',
  previousBefore: 'Preview that was approved earlier: before',
  previousAfter: 'Preview that was approved earlier: after',
  continued: (label: string) => `${label} (continued)`,
} as const;
