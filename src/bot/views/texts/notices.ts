import type { ApproverProblem } from '../../../engine/asks/approver-groups.ts';
import type { NamedBecause } from '../../../engine/ports.ts';
import { WHY_NOT_READ } from '../../../engine/turns/files/file-texts.ts';
import { plural } from './format.ts';

/** Slack's reasons of a channel that the bot has left or never joined. */
const NOT_A_MEMBER: ReadonlySet<string> = new Set(['not_in_channel', 'channel_not_found']);

function whyUnknown(problem: ApproverProblem): string {
  switch (problem.code) {
    case 'not-found':
      return "the approver can't be found right now.";
    case 'not-said':
      return 'it does not say whose approval it needs.';
    case 'not-checked':
      return `${problem.email} can't be looked up in Slack right now.`;
    case 'nobody':
      return `nobody in Slack has the address ${problem.email}.`;
    case 'author-not-said':
      return 'it does not say who may not approve it.';
    case 'author-not-checked':
      return `${problem.named}, who may not approve it, can't be looked up in Slack right now.`;
    case 'author-unknown':
      return `${problem.named}, who may not approve it, is nobody in Slack.`;
  }
}

/** Every sentence that people are told privately or in a thread, outside of cards. */
export const noticeTexts = {
  notFound: 'This request no longer exists.',
  alreadySettled: (state: string, by: string) =>
    by === '' ? `This is already ${state}.` : `This is already ${state}, by ${by}.`,
  outcomeUnknown: 'The outcome of this is unknown. Its card shows who can confirm it.',
  outcomeConfirmed: (by: string) =>
    `The outcome of this is already confirmed${by === '' ? '' : `, by ${by}`}.`,
  ownRequest: 'You took part in requesting this, so someone else has to approve it.',
  notApprover: "You can't approve this.",
  onlyThey: (who: readonly string[]) => `Only ${who.join(' or ')} can approve this.`,
  ownAnswer: 'You took part in requesting this, so someone else has to answer it.',
  notAnswerer: 'Only the people this was sent to can answer.',
  notResolver: "You can't confirm the outcome of this action.",
  mayNotRunAgain: 'Only its approvers can have this run again.',
  onlyRequesterWithdraws: 'Only the requester can withdraw this.',
  alreadyRejected: "You've already rejected this.",
  alreadyApproved: "You've already approved. Waiting for others.",
  expired: 'This request has expired.',
  approvalsPerHour: (most: number) =>
    `You've approved ${plural(most, 'request')} in the last hour, which is the limit per person. Ask another approver, or try again later. You can still reject it.`,
  changedSince: 'This has changed since you saw it. Please look at the new card.',
  notInDoubt: (state: string) => `The outcome no longer needs to be confirmed. Status: ${state}.`,

  deactivated: "Your account is deactivated, so you can't decide this.",
  bots: "Bots can't decide this.",
  otherWorkspace: 'Only members of this workspace can decide this.',
  notShownOutside: 'Only members of this workspace can see the details of this request.',
  cannotCheckViewer: "I can't check right now whether you may see this. Please try again in a moment.",
  guests: "Guests can't decide this.",
  cannotCheck: "I can't check right now whether you may decide this. Please try again in a moment.",
  wrongPlace: "You can't decide this from here. Use the buttons on the request's own card.",

  nothingToRepeat: (state: string) => `Only an expired request can be requested again. Status: ${state}.`,
  onlyRequesterRepeats: 'Only a requester can request this again.',
  alreadyRepeated: 'This has already been requested again.',
  nothingToUndo: (state: string) => `Only a completed action can be undone. Status: ${state}.`,
  undoTooLate: 'This can no longer be undone here. Please ask me for what you need.',
  passedOn: (caller: string) => `What you write here is passed on to ${caller}. I don't act on it.`,
  onlyCallerRepeats: (caller: string) => `Only ${caller} can ask for this again.`,
  mayNotUndo: 'Only the requesters and approvers of this action can undo it.',
  cannotUndo: "I can't work out how to undo this. Please ask me for what you need.",
  alreadyUndone: 'Undo has already been requested.',
  undoQueued: "Undo requested. I'll start it once everything running or waiting in this thread has finished.",
  nothingToAskAbout: 'There is nothing in this message that I can read.',
  onlyRequesterAddress: 'Only a requester can see the address.',
  nothingAwaited: (state: string) => `This request is no longer waiting for an answer. Status: ${state}.`,
  address: (address: string) => `Anyone with this address can report back, once: \`${address}\``,
  chooseFirst: 'Please choose something first.',
  toolGone: 'This tool no longer exists.',
  formUnreadable: "This form can't be shown.",
  formGone: 'This form no longer exists.',

  /** A decision in words; one without a word changes no card. */
  decided: {
    approve: 'approved',
    reject: 'rejected',
    choose: 'answered',
    answer: 'answered',
    decline: 'declined',
    edit: 'edited',
    resolve: 'confirmed the outcome of',
    withdraw: 'withdrew',
    'ask-again': undefined,
    'show-address': undefined,
    undo: undefined,
  },
  recordedFirst: (verb: string, title: string) =>
    `Recorded: you ${verb} "${title}". The card will show it in a moment.`,

  personQuota: (waiting: number, most: number) =>
    `A requester has ${waiting} requests waiting for decisions in all threads, and the limit is ${most}. Ask again when some of them are decided.`,
  threadQuota: (waiting: number, most: number) =>
    `This thread has ${waiting} requests waiting for decisions, and the limit is ${most}. Ask again when they are decided.`,
  noTool: (name: string) => `The tool "${name}" no longer exists.`,
  completedTwice: "A task can't be completed twice.",
  notAllowedHere: "Someone taking part in this task isn't allowed to use this tool here. Ask an admin.",
  noPolicy: (name: string) => `Nobody can approve this: there is no policy "${name}".`,
  oneAnswer: (name: string) =>
    `Nobody can answer this: policy "${name}" needs more than one click, and a form takes one answer. Ask with choices, or for a yes or no.`,
  approverUnknown: (problem: ApproverProblem) => `Nobody can approve this: ${whyUnknown(problem)}`,
  tooFewApprovers: (policy: string, quorum: number, approvers: number) => {
    const needed = quorum === 1 ? '1 approval' : `${quorum} approvals`;
    const found = approvers === 0 ? 'nobody' : `only ${approvers}`;
    return `Nobody can approve this: policy "${policy}" needs ${needed}, and ${found} can approve.`;
  },

  reminder: { lead: 'Reminder: ', tail: ' is waiting for ' },
  escalatedAtOnce: {
    lead: 'Escalated right away because the approvers already have too many requests waiting: ',
    tail: '. Can also be decided by ',
  },
  escalated: { lead: 'Escalated: no decision yet on ', tail: '. Can now be decided by ' },
  unknown: {
    lead: '',
    tail: ': Countersign restarted or lost its database while this ran. It may or may not have happened. Please check, then say on its card what happened: ',
  },
  inDoubt: {
    lead: '',
    tail: ': it ended with an error while it ran. It may or may not have happened. Please check, then say on its card what happened: ',
  },
  notTriedAgain: {
    lead: '',
    tail: ": it was started before and can't be tried again. It may or may not have happened. Please check, then say on its card what happened: ",
  },
  editDenied: (reason: string) => `This change isn't allowed: ${reason}`,
  unchanged: "You haven't changed anything.",
  startedBefore:
    "This was already started, so it can't be edited. Its card shows whether it completed, or who can confirm it.",
  cardNotPosted: {
    lead: " did not run: I couldn't post its card",
    in: ' in ',
    tail: (reason: string) =>
      ` (${reason}). ${NOT_A_MEMBER.has(reason) ? 'Invite me to that channel and ask again.' : 'Please ask me again somewhere else.'}`,
  },
  didNotRun: (titles: string, reason: string) =>
    `${titles} did not run. ${/[.!?…]$/.test(reason) ? reason : `${reason}.`}`,
  calls: (title: string, times: number) => `${title} (${times} calls)`,

  revised: {
    edited: "You edited a message that I've already read. I can start again with the new text.",
    'edited-too-late':
      'You edited a message after I had acted on it. Send me a new message if something needs to change.',
    deleted: "I've already read the message that you deleted. Write *stop* to cancel what I'm doing.",
  },
  waitsStill: (count: number) =>
    `${count === 1 ? 'Your request is' : `${count} of your requests are`} still waiting for approval. I'll read this message after the decision.`,
  startAgain: 'Withdraw and start again',
  startsAgain: "Withdrawn. I'll start again with your message.",
  nothingToWithdraw: 'Nothing of yours is waiting here any more.',
  redo: 'Redo with the new text',
  redone: 'Starting again with the new text.',
  alreadyRedone: "I've already started again with the new text.",
  onlyAuthorRedoes: 'Only the author of the message can redo this.',
  nothingToRedo: 'This message no longer exists.',

  filesNotRead: (files: readonly { readonly name: string; readonly because: NamedBecause }[]) =>
    files.length === 1
      ? `I didn't read “${files[0]?.name}”: ${WHY_NOT_READ[files[0]?.because ?? 'other']}.`
      : [
          "I didn't read these files:",
          ...files.map(({ name, because }) => `• “${name}”: ${WHY_NOT_READ[because]}`),
        ].join('\n'),
  threadNotRead: {
    limited:
      "Slack limits how much I can read right now, so I don't know the earlier messages of this thread.",
    refused:
      "Slack doesn't let me read the earlier messages of this thread, so I only know what was written to me.",
    unreachable:
      "I couldn't read the earlier messages of this thread, so I only know what was written to me.",
  },

  manifestRejected: (file: string) => `${file} has errors; the previous version stays active.`,
  manifestHeld: (file: string) =>
    `${file} changes rules, so it waits for approval in the channel of agent.policy_changes; the previous version stays active.`,
  manifestProblems: (file: string) => `${file} is active, but some tools don't work.`,
  manifestFine: (file: string) => `${file} is valid again and active.`,
} as const;

const NOT_APPLIED: Readonly<Record<string, string>> = {
  rejected: 'it was rejected',
  expired: 'nobody decided in time',
  withdrawn: 'it was withdrawn',
  asked: 'nobody could be asked',
};

/** The reasons for which the audit log is not signed, by the codes of refusals. */
export const AUDIT_REASONS: Readonly<Record<string, string>> = {
  'state-unreadable': "the file in which the signer remembers what it signed can't be read",
  'state-unwritable': "the file in which the signer remembers what it signed can't be written",
  'checkpoint-changed': 'the last checkpoint in Redis was changed',
  'checkpoint-missing': 'checkpoints that were signed are missing in Redis',
  'older-copy':
    'Redis holds another log than the one that was signed: an older copy, as after a restore, or a changed one',
  'unknown-key': "the last checkpoint in Redis is signed with a key that isn't ours",
  'not-continued': "the checkpoints in Redis don't continue the last one that was signed",
  'log-changed': "the rows in Redis don't continue the last one that was signed",
  'unsigned-rows': 'no process has signed new rows for some minutes',
  failing: 'signing keeps failing',
};

/** The reasons for which Redis refuses writes, by its codes. */
export const WRITE_REASONS: Readonly<Record<string, string>> = {
  OOM: 'the memory of Redis is full',
  MISCONF: "Redis can't write to its disk",
  READONLY: 'this Redis is a replica and takes no writes',
  NOREPLICAS: 'Redis has too few replicas',
};

/** Every sentence that only admins are told; those about the manifest are with the notices. */
export const adminTexts = {
  quarantined: (threadId: string, reason: string) =>
    `The thread ${threadId} is quarantined, so I don't continue it. ${reason}\nWhen the cause is fixed, run: countersign retry ${threadId}`,
  auditNotSigned: (code: string, checkpoint: number) =>
    `The audit log isn't signed any more: ${AUDIT_REASONS[code] ?? code}.${checkpoint > 0 ? ` Checkpoint ${checkpoint} is the last one I trust.` : ''} ${code === 'older-copy' ? "If you restored a backup, what happened after it is not on record: don't approve anything before you know what is missing." : 'Somebody may have changed Redis.'} Keep the exported log, and run: countersign audit verify${code === 'older-copy' ? ' --against' : ''}`,
  auditNotExported: (sink: 'file' | 'http') =>
    `The audit log isn't exported any more: ${sink === 'file' ? "its file (`audit.file`) can't be written" : "its endpoint (`audit.http`) doesn't take it"}. Nothing is lost yet: the rows stay in Redis. Run: countersign doctor`,
  writesRefused: (code: string) =>
    `I can't record anything new: ${WRITE_REASONS[code] ?? `Redis refuses writes (${code})`}. New messages and approvals fail until that's fixed; nothing that is on record is lost. \`/countersign freeze\` and withdrawing a request still work.`,
  processDied:
    'The bot crashed five times in a row on this thread, for example because it ran out of memory.',
  turnFailed: (problem: string) => `The turn failed: ${problem}`,
  budgetOwner: {
    thread: (threadId: string) => `the thread ${threadId}`,
    person: (person: string) => `<@${person}>`,
    bot: () => 'the whole bot',
  },
  budget: (owner: string, spent: number, limit: number) =>
    `The token budget of ${owner} for today is at ${Math.floor((100 * spent) / limit)}% (${spent} of ${limit}).`,
  /** A change of the policies ended without being applied. */
  changeNotApplied: (state: string) =>
    `The changed manifest.yml was not applied: ${NOT_APPLIED[state] ?? 'it failed'}. The previous version stays active.`,
  modelNeedsAttention: (problem: string, reference: string) =>
    `The model needs attention. ${problem} (reference ${reference})`,
} as const;
