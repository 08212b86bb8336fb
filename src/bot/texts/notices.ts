import { plural } from '../cards/values/render-value.ts';

/** Slack's reasons of a channel that the bot has left or never joined. */
const NOT_A_MEMBER: ReadonlySet<string> = new Set(['not_in_channel', 'channel_not_found']);

/** Every sentence that people are told privately or in a thread, outside of cards. */
export const noticeTexts = {
  notFound: 'This request no longer exists.',
  alreadySettled: (state: string, by: string) =>
    by === '' ? `This is already ${state}.` : `This is already ${state}, by ${by}.`,
  outcomeUnknown: 'The outcome of this is unknown. Its card shows who can confirm it.',
  outcomeConfirmed: (by: string) =>
    `The outcome of this is already confirmed${by === '' ? '' : `, by ${by}`}.`,
  ownRequest: 'You took part in requesting this, so someone else has to approve it.',
  notApprover: "You're not an approver for this request.",
  notAnswerer: 'Only the people this was sent to can answer.',
  notResolver: "You can't confirm the outcome of this action.",
  mayNotRunAgain: "You can't have this action run again.",
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
  guests: "Guests can't decide this.",
  cannotCheck: "I can't check right now whether you may decide this. Please try again in a moment.",
  wrongPlace: "You can't decide this from here. Use the buttons on the request's own card.",

  nothingToRepeat: (state: string) => `Only an expired request can be requested again. Status: ${state}.`,
  onlyRequesterRepeats: 'Only a requester can request this again.',
  alreadyRepeated: 'This has already been requested again.',
  nothingToUndo: (state: string) => `Only a completed action can be undone. Status: ${state}.`,
  undoTooLate: 'This can no longer be undone here. Please ask me for what you need.',
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

  recorded: 'Your decision is recorded.',

  personQuota: (waiting: number, most: number) =>
    `A requester has ${waiting} requests waiting for decisions in all threads, and the limit is ${most}. Ask again when some of them are decided.`,
  threadQuota: (waiting: number, most: number) =>
    `This thread has ${waiting} requests waiting for decisions, and the limit is ${most}. Ask again when they are decided.`,
  noTool: (name: string) => `The tool "${name}" no longer exists.`,
  completedTwice: "A task can't be completed twice.",
  notAllowedHere: "Someone taking part in this task isn't allowed to use this tool here. Ask an admin.",
  noPolicy: (name: string) => `Nobody can approve this: there is no policy "${name}".`,
  tooFewApprovers: (policy: string, quorum: number, approvers: number) => {
    const needed = quorum === 1 ? '1 approval' : `${quorum} approvals`;
    const found = approvers === 0 ? 'nobody' : `only ${approvers}`;
    return `Nobody can approve this: policy "${policy}" needs ${needed}, and ${found} can approve.`;
  },

  needsNewApproval: (change: string) => `${change}, so this needs a new approval.`,
  stoppedByChange: (change: string) => `${change}, so this wasn't tried again.`,
  deniedNow: (reason: string) => `A rule does not allow this any more: ${reason}`,
  quorumChanged: (before: number, after: number) => `The rule changed from ${before} to ${after} approvals`,
  ruleChanged: 'The rule for this action changed',
  toolChanged: 'The tool, its settings or its policy changed',

  reminder: { lead: 'Reminder: ', tail: ' is waiting for ' },
  escalatedAtOnce: {
    lead: 'Escalated right away because the approvers already have too many requests waiting: ',
    tail: '. Can also be decided by ',
  },
  escalated: { lead: 'Escalated: no decision yet on ', tail: '. Can now be decided by ' },
  unknown: {
    lead: '',
    tail: ": the worker stopped mid-run, and we don't know whether this completed. Who can confirm the outcome: ",
  },
  notTriedAgain: {
    lead: '',
    tail: ": it was started before and can't be tried again, and we don't know whether it completed. Who can confirm the outcome: ",
  },
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

  editedLate: "You edited a message that I've already read. I can start again with the new text.",
  editedTooLate:
    'You edited a message after I had acted on it. Send me a new message if something needs to change.',
  deletedLate: "I've already read the message that you deleted. Write *stop* to cancel what I'm doing.",
  redo: 'Redo with the new text',
  redone: 'Starting again with the new text.',
  alreadyRedone: "I've already started again with the new text.",
  onlyAuthorRedoes: 'Only the author of the message can redo this.',
  nothingToRedo: 'This message no longer exists.',

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
    `${file} weakens rules, so it waits for approval; the previous version stays active.`,
  manifestProblems: (file: string) => `${file} is active, but some tools don't work.`,
  manifestFine: (file: string) => `${file} is valid again and active.`,
} as const;
