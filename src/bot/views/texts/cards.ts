import { conditionInWords, type InputWords } from '../../../policy/condition.ts';
import { NEEDED_RULE, UNDECIDED_RULE } from '../../../policy/rules.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { plural } from './format.ts';

type State = RequestRecord['state'];

/** The icon of each state, so that a card is told apart at a glance. Each is in colour by itself, in every font. */
export const STATE_ICON: Readonly<Record<State, string>> = {
  pending: '🟡',
  approved: '⏳',
  started: '⏳',
  unknown: '❓',
  answered: '✅',
  rejected: '🚫',
  expired: '⌛',
  withdrawn: '🚫',
  superseded: '🔁',
  succeeded: '✅',
  failed: '❌',
  resolved: '✅',
  paused: '⏳',
};

/** The icon of an action that is approved and may not start now. */
export const HELD_ICON = '🧊';

/** The icon of an action that ran, and whose result cannot be used. */
export const PROBLEM_ICON = '⚠️';

/** The icon of an action that ran without the answer that its server had asked for, so that it may have done nothing. */
export const ENDED_ICON = '⚪';

/** The icon of an action that was undone. */
export const UNDONE_ICON = '⏪';

/** The one icon of what waits and is of high risk. */
export const HIGH_RISK_ICON = '🔴';

/** The icon and the word of each level of risk. */
export const RISK: Readonly<Record<'low' | 'medium' | 'high', string>> = {
  low: '🟢 Low risk · ',
  medium: '🟡 ',
  high: `${HIGH_RISK_ICON} High risk · `,
};

/** The word for each state, for notifications, lists and Details. */
export const STATE_WORD: Readonly<Record<State, string>> = {
  pending: 'Waiting',
  approved: 'Approved',
  started: 'Running',
  unknown: 'Outcome unknown',
  answered: 'Answered',
  rejected: 'Rejected',
  expired: 'Expired',
  withdrawn: 'Withdrawn',
  superseded: 'Replaced',
  succeeded: 'Done',
  failed: 'Failed',
  resolved: 'Outcome confirmed',
  paused: 'Started',
};

/** Returns the word for the state of which nothing more is known, such as of a row of the log. */
export function wordOf(state: string): string {
  return Object.entries(STATE_WORD).find(([name]) => name === state)?.[1] ?? state;
}

/** Returns that word within a sentence. */
export function stateWord(state: string): string {
  return wordOf(state).toLowerCase();
}

/** The icon and the word of each verdict on a request whose outcome was unknown. */
export const VERDICT: ReadonlyMap<string, { readonly icon: string; readonly word: string }> = new Map([
  ['ran', { icon: STATE_ICON.succeeded, word: 'Ran' }],
  ['did-not-run', { icon: STATE_ICON.rejected, word: 'Did not run' }],
]);

/** Every sentence of a card. */
export const cardTexts = {
  unusableWord: 'Ran, with an unusable result',
  unusable: "It ran, but its result can't be used: ",
  resultProblem: 'Problem',
  approvalNeeded: (title: string) => `Approval needed: ${title}`,
  place: (number: number, of: number) => `${number} of ${of}`,
  requestedBy: 'Requested by ',
  askedBy: 'asked by ',
  changedOnServer: 'manifest.yml was changed on the server',
  forOwner: ' for ',
  callerLink: (caller: string) => `Link from ${caller}: `,
  callerExplanation: (caller: string) => `Explanation from ${caller} (unverified)`,
  editedSince: ' · edited by ',
  inChannel: ' in ',
  inDirectMessage: ' in a direct message',
  until: 'until ',
  waiting: '🟡 ',
  needs: (quorum: number, isFirst: boolean) => `${isFirst ? 'Needs' : 'needs'} ${plural(quorum, 'approval')}`,
  needsMore: (count: number) => ` · needs ${count} more: `,
  of: ' · ',
  anyOf: (quorum: number) => (quorum === 1 ? ' · any of ' : ` · any ${quorum} of `),
  stillNeeded: 'Still needed: ',
  why: 'Why: ',
  wroteSince: ' wrote since: ',
  wroteBefore: (count: number) => (count === 0 ? '' : ` (and ${plural(count, 'message')} before)`),
  canBeUndone: (time: string) => ` can be undone for ${time}`,
  canAlwaysBeUndone: ' can be undone',
  cannotBeUndone: " can't be undone",
  reviewedBy: '👀 Being reviewed by ',
  decidedElsewhere: 'Approvers decide in their direct messages.',
  target: 'target',
  thisTarget: (target: string) => `for this ${target}`,
  firstFor: (act: string, target: string) => `First ${act} ${target}`,
  firstBy: (act: string) => `First ${act} by `,
  inDays: (days: number) => ` in ${plural(days, 'day')}`,
  firstUse: (days: number) => `First time in ${plural(days, 'day')} that `,
  uses: (act: string) => ` uses ${act}`,
  quietHours: 'Quiet hours. Direct messages to approvers go out ',
  description: (text: string) => `What this does: ${text}`,
  explanation: "Agent's explanation (unverified)",
  approvals: (count: number, quorum: number) => `${count} of ${quorum} approvals`,
  fromGroup: (missing: number) => (missing === 1 ? '' : `${missing} of `),
  ifRejected: (vetoes: number) => (vetoes === 1 ? 'If rejected, ' : `If rejected ${vetoes} times, `),
  rulesStay: 'the rules stay.',
  rulesFollow: 'Once approved, the new rules hold at once. Another change can put the old ones back.',
  nothingRuns: 'nothing runs and ',
  readsWhy: ' reads why.',
  stops: ' does not run it and reads why.',
  whoeverAsked: 'each of them',
  or: ' or ',
  and: ', and ',
  status: (text: string) => ` (status: ${text})`,
  approvedBy: '✅ Approved by ',
  wasApprovedBy: ' · approved by ',
  approvedLead: 'approved by ',
  wordsOf: { approve: '✅ ', reject: '❌ ' },
  comment: 'Approve with a comment',
  inPlaceOf: ' for ',
  arguments: 'Arguments, exactly as they will run',
  notShown: (size: number) => `(not shown: ${plural(size, 'character')})`,
  opaque: (names: readonly string[], others: number) => {
    const counted = others === 0 ? [] : [plural(others, names.length === 0 ? 'argument' : 'other argument')];
    return `Can't be inspected: ${[...names, ...counted].join(', ')} (encoded text or a script).`;
  },
  moreFields: (count: number) => `${count} more. See Details.`,
  filesCompared: 'Nothing else that it reads is compared.',
  changesCut: (lines: number) => `${plural(lines, 'more line')}. The whole is in Details and on the page.`,
  seeOriginal: 'Edited. See Details for the original.',
  none: 'none',
  hidden: (characters: number) => `… ${plural(characters, 'more character')}`,
  before: 'Before',
  after: 'After',
  preview: 'Preview',
  previewFailed: {
    'too-slow': 'No preview: it took too long.',
    error: "No preview: it couldn't be computed.",
  },
  previewLacks: (paths: readonly string[]) =>
    `The preview is incomplete: what was read has no ${paths.map((path) => `“${path}”`).join(', ')}.`,
  previewChanged: 'The preview has changed since it was approved. It was:',
  diffCut: (lines: number) => `${plural(lines, 'more line')} not shown. See Details.`,
  noDifference: 'No change',
  openThread: 'Open the thread',
  openPage: 'Open as a page',
  unreadable: "This request can't be shown, so nobody can approve or answer it.",

  approve: 'Approve',
  approveOne: (number: number, quorum: number) => `Approve (${number} of ${quorum})`,
  approveAndRun: (verb = 'run') => `Approve and ${verb}`,
  reviewAndApprove: 'Review and approve…',
  reject: 'Reject',
  edit: 'Edit',
  details: 'Details',
  withdraw: 'Withdraw',
  reviewAll: 'Review all to approve',
  requestAgain: 'Request again',
  askAgain: 'Ask again',
  undo: 'Undo',
  undoUntil: ' · Undo until ',
  undoRequested: 'Undo requested by ',
  undone: 'Undone ',
  undoneWord: 'Undone',
  undoneBy: ', requested by ',
  notUndone: 'Undo did not run. Requested by ',
  viewUndo: 'View the request',
  inside: (names: string, outer: string) => `${names}, inside: ${outer}`,
  toolAsks: (tool: string) => `${tool} asks:`,
  fromTool: (tool: string) => ` · from “${tool}”, in the middle of this call`,
  fromAgent: ' · from the agent',
  onBehalfOf: ', for ',
  chosenSoFar: 'Chosen so far: ',
  confirmationIn: (title: string) => `Confirmation for: ${title}`,
  answerIn: (title: string) => `Answer for: ${title}`,
  answerTo: (server: string, title: string) => `Answer to ${server}, for: ${title}`,
  answers: {
    free: 'If its server asks for input, the answers are sent without approval.',
  },
  yourAnswer: {
    approved: 'The approvers see your answer and approve it before it is sent.',
    free: 'Your answer is sent without approval.',
  },
  undoes: (title: string) => `Undoes: ${title}`,

  starting: 'Starting…',
  waitsInPlan: 'Approved. It starts when the steps before it have run and the plan is approved.',
  running: (attempt: number) => (attempt > 1 ? `Running (attempt ${attempt})` : 'Running'),
  progress: 'Progress',
  failed: 'failed ',
  error: 'Error',
  unknown: 'Countersign restarted or lost its database while this ran. It may or may not have happened.',
  lastProgress: (text: string) => ` Last progress: ${text}.`,
  inDoubt: 'It may or may not have happened.',
  notTriedAgainUnknown: "Something it depends on changed, so it wasn't tried again.",
  askIfItDidNotRun: "If it didn't run, ask for it again. It is then approved under the current rules.",
  earlierAttempt: 'It was started before, which may or may not have happened.',
  toConfirm: ': check, then say what happened. There is no deadline.',
  confirmedBy: (word: string | undefined) =>
    word === undefined ? 'Outcome confirmed by ' : `${word} · confirmed by `,
  rejected: 'rejected by ',
  withdrawn: 'withdrawn by ',
  expired: 'expired ',
  undecided: { approval: ' with no decision', answer: ' with no answer' },
  replacedByEdit: 'replaced by an edited request from ',
  replacedUnknown: 'Something it depends on changed, so it is no longer valid.',
  answered: 'Answered by ',
  answer: 'Answer',
  reason: 'Reason',
  ran: 'It ran',
  didNotRun: "It didn't run",
  runAgain: 'Run again',
  nobody: 'nobody',
  justNow: 'just now',

  question: 'Question for ',
  anyone: 'anyone in this channel',
  aQuestion: 'A question',
  notAllShown: 'Not everything is shown here. See Details for the rest.',
  choose: 'Choose',
  submit: 'Submit',
  other: 'Other…',
  answerButton: 'Answer…',
  fillIn: 'Fill in',
  showAddress: 'Show address',
  form: 'Please fill in a form',
  pleaseFillIn: (title: string) => `Please fill in: ${title}`,
  fillInBy: 'To be filled in by ',
  inputNeeded: 'Input needed',
  inputNeededFor: (what: string) => `Input needed: ${what}`,
  serverAsks: (server: string) => `The MCP server ${server} asks`,
  forCall: (title: string) => ` · for: ${title}`,
  startsAgain: 'The server starts this call again once you answer.',
  opens: 'Opens ',
  openLink: 'Open link',
  decline: 'Decline',
  declinedWord: 'Declined',
  declined: 'Declined by ',
  answerBy: 'To be answered by ',
  paused: 'Started, continues in this thread, ',
  waitingFor: 'Waiting for ',
  toAnswer: (server: string) => ` to answer ${server}, since `,
  withAnswer: (server: string) => `Started, continues with the answer to ${server} in this thread, `,
  runsAt: (server: string) => `Running at ${server} since `,
  endUnknown: 'It may or may not have happened. The people who can say so have been asked in this thread, ',
  endedWord: 'Ended',
  endedWithoutAnswer: (server: string, end: string) =>
    `The question of ${server} was ${end}, so this may not have been done, `,
  external: 'Waiting for an external system',
  externalText: (what: string) => `Waiting for an external system: ${what}`,
  waitingSince: 'since ',
} as const;

/** The confirmations of buttons. */
export const confirmTexts = {
  approve: (title: string) => ({
    title: 'Approve this?',
    text: `${title}?`,
    confirm: 'Approve',
    deny: 'Go back',
  }),
  highRisk: (title: string, undo: string) => ({
    title: 'Approve this high-risk action?',
    text: `${title}? This${undo}.`,
    confirm: 'Approve',
    deny: 'Go back',
  }),
  runAgain: (title: string) => ({
    title: 'Run it again?',
    text: `${title}: if it did run the first time, it takes effect twice.`,
    confirm: 'Run again',
    deny: 'Go back',
  }),
};

/** The reason for which a call needs approval, as its pause has it. */
export interface RuleWords {
  readonly rule: string | undefined;
  readonly because?: string | undefined;
  readonly isOverLimit?: boolean;
}

const OVER_LIMIT = 'it exceeds a limit';

/** Says in words why a call needs approval: in those of the rule, or its condition with the labels and the formats of the card. */
export function ruleInWords(
  { rule, because, isOverLimit = false }: RuleWords,
  { act, inputs }: { readonly act?: string | undefined; readonly inputs?: InputWords } = {},
): string {
  if (isOverLimit) return because === undefined ? OVER_LIMIT : `${because}; ${OVER_LIMIT}`;
  if (because !== undefined) return because;
  if (rule === 'the tool itself asks') return 'the tool asks for it';
  if (rule === NEEDED_RULE) return 'this tool always asks for approval here';
  if (rule === undefined || rule === UNDECIDED_RULE) return 'no rule lets this run without approval';
  if (rule === 'No approval was needed') return 'no approval was needed';
  if (rule.startsWith('edited by ')) return 'it was edited';
  const [, when, doubt] = /: when (.*?)( \(it could not be evaluated: .*\))?$/s.exec(rule) ?? [];
  if (when === undefined)
    return act === undefined ? 'every call needs approval' : `every “${act}” needs approval`;
  const condition = conditionInWords(when, inputs);
  return doubt === undefined ? condition : `could not check whether ${condition}`;
}
