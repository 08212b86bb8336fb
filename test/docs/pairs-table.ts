/** Two features that can meet in one request, what must hold then, and the test that shows it: a file and its title, or the part that does not vary. */
interface Pair {
  readonly features: string;
  readonly holds: string;
  readonly file: string;
  readonly title: string;
}

const pair = (features: string, holds: string, file: string, title: string): Pair => ({
  features,
  holds,
  file,
  title,
});

const ORACLE = [
  'test/oracle/oracle.test.ts',
  'random compositions the bot does with each call what an oracle of the promises says',
] as const;

/** Where the requests of callers meet other features; they have no row of their own in the count, since a caller is who asks. */
export const CALLER_PAIRS: readonly Pair[] = [
  pair(
    'caller, edit',
    'The new input runs after a new approval, and the caller reads it with who edited it.',
    'test/stories/door.test.ts',
    'an edited call runs with the new input, which the caller reads with who edited it',
  ),
  pair(
    'caller, limit',
    'A limit of the caller answers 429; a request that joins another counts once.',
    'test/stories/door-callers.test.ts',
    'beyond its limits a caller gets 429 and when to try again; a request that joins another counts nothing',
  ),
  pair(
    'caller, freeze',
    'A freeze between the approval and the start of the caller holds it.',
    'test/stories/door-start.test.ts',
    'what is frozen between the approval and the start is held, said on the card, and starts afterwards',
  ),
  pair(
    'caller, quorum',
    'All approve before it runs, and an approval that is lost before the start does not count.',
    'test/stories/door-start.test.ts',
    'an approval of somebody who is deactivated before the caller starts does not count: people are asked again',
  ),
  pair(
    'caller, two speakers',
    'The person for whom it asks, the owner and the caller are requesters.',
    'test/stories/door-behalf.test.ts',
    'a person for whom a caller asks counts as requester: on the card, in the log, and they cannot approve',
  ),
  pair(
    'caller, changed manifest',
    'After a change of the rules the caller starts nothing before people approve again.',
    'test/stories/door-start.test.ts',
    'after the rules have changed the approval is void: the caller starts nothing before people approve again',
  ),
  pair(
    'caller, crash',
    'A receipt starts one run, although the bot is killed around the start.',
    'test/stories/door-kill.test.ts',
    'an approved ask is started once, although the bot is killed around the start',
  ),
  pair(
    'caller, expiry',
    'An approval that the caller does not take in time ends as not run.',
    'test/stories/door-asks.test.ts',
    'an approval that the caller does not take in time ends as not run',
  ),
  pair(
    'caller, undo',
    'A person takes back what a caller did; the caller keeps its own result.',
    'test/stories/door-callers.test.ts',
    'a person takes back what a caller did with Undo, and the caller still reads its own result',
  ),
  pair(
    'caller, grant',
    'A grant for a person does not cover their caller; one for a caller covers it alone, within the terms.',
    'test/stories/door-pairs.test.ts',
    'a grant for a caller covers its own further calls within the terms, and nobody else, not even its owner',
  ),
  pair(
    'caller, delegation',
    'A delegate approves what a caller asks for, unless they own it.',
    'test/stories/door-pairs.test.ts',
    'who decides in the place of an approver may approve what a caller asks for, unless they own it',
  ),
  pair(
    'caller, preview',
    'If the base of the preview changes before the start, people are asked again and the caller waits.',
    'test/stories/door-pairs.test.ts',
    'a preview that changes between approval and start asks people again, and the caller waits on',
  ),
  pair(
    'caller, passkey',
    'The approver signs with their key what the caller asks for; the click alone starts nothing.',
    'test/page/passkey-pairs.test.ts',
    'what a caller asks for runs only after the approver has signed it with their key',
  ),
  pair(
    'caller, plan',
    'A caller proposes a plan of its own tools, and reads the outcome of each step.',
    'test/stories/door-plans.test.ts',
    'a caller proposes a plan: one card, one approval, and it reads the outcome of each step',
  ),
];

export const PAIRS: readonly Pair[] = [
  pair(
    'edit, grant',
    'An edited call uses no grant and leaves none.',
    'test/oracle/checks.test.ts',
    'a grant lets neither an edited call run nor one over a limit',
  ),
  pair('edit, limit', 'The limit counts the amount that runs, not the one that was edited away.', ...ORACLE),
  pair('edit, freeze', 'An edit while the tool is frozen asks again and runs nothing.', ...ORACLE),
  pair('edit, delegation', 'A delegate does not edit; who edits does not approve for anybody.', ...ORACLE),
  pair('edit, quorum of groups', 'After an edit every group approves anew.', ...ORACLE),
  pair('edit, approver from input', 'An edit that names another owner asks that owner.', ...ORACLE),
  pair(
    'edit, account',
    "An approver who edits is a requester, so the call does not run in the other's account.",
    'test/stories/accounts/connect.test.ts',
    'an approver who edits a call asks for it too, so it does not run in the account of the other',
  ),
  pair(
    'edit, elicitation',
    'Answers belong to the edited call; who edited it does not approve them.',
    'test/stories/answers.test.ts',
    'the answer to an edited call is approved with the edited arguments, not by who edited them',
  ),
  pair(
    'edit, retry',
    'What may have run is not edited.',
    'test/oracle/checks.test.ts',
    'what may have run is neither edited nor approved again, and while it is frozen it does not run again either',
  ),
  pair(
    'edit, two speakers',
    'The editor is a requester, is named, and does not approve.',
    'test/stories/requesters.test.ts',
    'the editor of a request is named on the new card and cannot approve it, and Details has both values',
  ),
  pair(
    'edit, changed manifest',
    'New arguments that the tool no longer takes end the call.',
    'test/engine/asks/replies-to.test.ts',
    'an edit that a reloaded schema no longer takes ends the call as failed, and throws nothing',
  ),
  pair(
    'grant, limit',
    'A grant allows nothing that is over a limit; the strictest counts.',
    'test/stories/limits-policies.test.ts',
    'every refund needs two approvals: with a grant, one over a limit whose policy asks for one still needs two',
  ),
  pair('grant, freeze', 'Nothing runs under a grant while it is frozen.', ...ORACLE),
  pair(
    'grant, delegation',
    'What somebody approves for another leaves no grant.',
    'test/stories/delegation.test.ts',
    'what somebody signs for another allows nothing again',
  ),
  pair(
    'grant, quorum of groups',
    'The whole quorum has to sign the grant, and to hold its right.',
    'test/stories/grants.test.ts',
    'a grant of a thread is for its people in that thread and for the same arguments, and the whole quorum has to sign it',
  ),
  pair(
    'grant, approver from input',
    'A grant of one owner is not for what another owns.',
    'test/stories/closed-when-in-doubt.test.ts',
    'a grant that the owner of one thing gave is not for what somebody else owns',
  ),
  pair(
    'grant, elicitation',
    'A call that pauses for its server keeps its one use; the answer is approved.',
    'test/stories/grants-paused.test.ts',
    'a call that runs under a grant keeps it while its server asks: one use, and only the answer is approved',
  ),
  pair(
    'grant, retry',
    'A call that is tried again takes one use.',
    'test/store/races/policy-races.test.ts',
    'calls for the last uses of a grant, and against its revocation, never one too many runs',
  ),
  pair(
    'grant, two speakers',
    'A grant is for nobody but those who asked.',
    'test/oracle/checks.test.ts',
    'a grant is for nobody but those who asked for what it was given for',
  ),
  pair(
    'grant, changed manifest',
    'A grant ends when its tool or its policy changes.',
    'test/oracle/checks.test.ts',
    'a grant ends when its tool or its policy changes',
  ),
  pair(
    'grant, expiry',
    'A use after the end of the grant is refused in the step that starts the call.',
    'test/store/guards/grants.ts',
    'grant-expired',
  ),
  pair(
    'limit, freeze',
    'Both stop a call that needs no approval.',
    'test/oracle/checks.test.ts',
    'a call that runs without approval stops at a freeze, a limit and a denial for anybody whose words led to it',
  ),
  pair('limit, delegation', 'Over a limit a delegate approves only what the delegator may.', ...ORACLE),
  pair('limit, quorum of groups', 'Over a limit the groups of both policies have to approve.', ...ORACLE),
  pair(
    'limit, approver from input',
    'Over a limit the owner is asked beside the policy of the limit.',
    ...ORACLE,
  ),
  pair(
    'limit, retry',
    'An unknown outcome keeps its amount; what did not run gives it back, and what runs again counts once.',
    'test/stories/limits.test.ts',
    'a call without approval whose outcome is unknown, %s as a person says, %s',
  ),
  pair('limit, two speakers', 'A limit of a requester counts for each of them.', ...ORACLE),
  pair(
    'limit, changed manifest',
    'A new limit counts for what waits for approval.',
    'test/oracle/checks.test.ts',
    'a limit that a new manifest sets counts for what waits for approval',
  ),
  pair(
    'limit, crash',
    'The start and its amount are one step, so none is lost or counted twice.',
    'test/store/races/policy-races.test.ts',
    'actions at the edge of a limit never one too many starts, and what did not start leaves its place',
  ),
  pair('freeze, delegation', 'A delegate starts nothing that is frozen.', ...ORACLE),
  pair('freeze, quorum of groups', 'The last approval does not start what is frozen.', ...ORACLE),
  pair('freeze, approver from input', 'The approval of an owner does not start what is frozen.', ...ORACLE),
  pair(
    'freeze, retry',
    'What a person says may run again waits for the end of the freeze.',
    'test/oracle/checks.test.ts',
    'what may have run is neither edited nor approved again, and while it is frozen it does not run again either',
  ),
  pair('freeze, two speakers', 'A freeze holds for whoever asks.', ...ORACLE),
  pair(
    'freeze, crash',
    'A freeze holds in every process, and after it each approved action runs once.',
    'test/stories/freeze.test.ts',
    'while actions are frozen nothing starts, approved or not, in any process; after that, what was approved runs once',
  ),
  pair(
    'freeze, expiry',
    'An approval that went stale on hold is asked for again.',
    'test/stories/freeze.test.ts',
    'an approval that has gone stale while it was on hold is asked anew',
  ),
  pair(
    'delegation, quorum of groups',
    'A delegate stands where the delegator stood, once.',
    'test/stories/delegation.test.ts',
    'in groups that must all approve, a delegate stands where the delegator stood',
  ),
  pair(
    'delegation, approver from input',
    'The delegate of the owner approves only what the owner may.',
    ...ORACLE,
  ),
  pair(
    'delegation, two speakers',
    'Nobody decides for somebody who asked, or whose words were read.',
    'test/stories/delegation-limits.test.ts',
    'who decides for two approvers decides for the one who may, where the other is the requester',
  ),
  pair(
    'delegation, changed manifest',
    'Where the policy no longer says so, a delegation signs nothing.',
    'test/oracle/checks.test.ts',
    'a delegate approves what the delegator could, as long as that person may, and nothing where the policy does not say so',
  ),
  pair(
    'delegation, crash',
    'A delegation, its end and the vote under it survive.',
    'test/stories/delegation-kill.test.ts',
    'a delegation, its notice and the vote under it survive a killed process, and an end that it had entered holds',
  ),
  pair(
    'delegation, expiry',
    'A delegation that has ended signs nothing.',
    'test/stories/delegation-limits.test.ts',
    'a delegation does not go onward, and ends at once when one of the two ends it',
  ),
  pair('quorum of groups, approver from input', 'An owner fills one place only.', ...ORACLE),
  pair('quorum of groups, two speakers', 'Nobody whose words led to the call fills a place.', ...ORACLE),
  pair(
    'quorum of groups, changed manifest',
    'A stricter policy asks again.',
    'test/stories/changed-rules.test.ts',
    'a policy that was tightened while a request waits asks anew',
  ),
  pair(
    'approver from input, two speakers',
    'An owner who asked does not approve.',
    'test/stories/approver-groups.test.ts',
    'nobody can approve a call whose address belongs to nobody, is none, or is the requester',
  ),
  pair(
    'preview, retry',
    'Only the first attempt is compared with its preview.',
    'test/stories/preview.test.ts',
    'a retry is not compared with its preview, which its own first attempt may have changed',
  ),
  pair(
    'preview, expiry',
    'A preview that is no longer true is asked about again, with both versions.',
    'test/stories/preview.test.ts',
    'a preview whose base changes between approval and start is asked anew, with both versions',
  ),
  pair(
    'undo, two speakers',
    'Who clicks Undo is the requester of the reverse.',
    'test/stories/undo.test.ts',
    'the manifest names a reverse with values of input and output, and an approver of the action may ask for it',
  ),
  pair(
    'undo, expiry',
    'An Undo that comes too late is refused in words.',
    'test/stories/undo.test.ts',
    'what cannot be undone, and what is undone too late, is said privately, and nothing is asked',
  ),
  pair(
    'elicitation, account',
    'A server that asks gets the answer in the name of the requester.',
    'test/stories/accounts/talkative.test.ts',
    'a server asks in a call that runs in the name of its requester, and gets the answer in their name',
  ),
  pair(
    'elicitation, retry',
    'The call is made again with the answer, and takes effect once.',
    'test/stories/elicitation.test.ts',
    'asks twice in an approved call: two forms, one effect, and the approvers see what is sent',
  ),
  pair(
    'elicitation, two speakers',
    'Nobody but the person who is asked answers.',
    'test/stories/elicitation.test.ts',
    'nobody else can answer, see the form, or decline',
  ),
  pair(
    'elicitation, changed manifest',
    'An answer does not continue a call whose policy has changed.',
    'test/stories/elicitation.test.ts',
    'an answer does not continue a call whose policy has changed since it was approved: it is asked anew',
  ),
  pair(
    'elicitation, crash',
    'A question is answered, and the answer approved, in the next process.',
    'test/stories/elicitation-kill.test.ts',
    'is answered and approved after the bot was killed and another one started, each time',
  ),
  pair(
    'elicitation, expiry',
    'The server hears that nobody answered.',
    'test/stories/elicitation.test.ts',
    'expires: the server hears cancel, and the model is told that nobody answered',
  ),
  pair(
    'account, retry',
    'A call that lacked a scope did not run, and runs once afterwards.',
    'test/stories/accounts/talkative.test.ts',
    'a call that lacks a scope did not run; the requester is asked for it, and the next one runs',
  ),
  pair(
    'account, two speakers',
    "A call that two people asked for runs in nobody's account.",
    'test/stories/accounts/connect.test.ts',
    "a call that two people asked for runs in nobody's account, and the thread is told",
  ),
  pair(
    'account, crash',
    'A task is followed in the same name by the next process.',
    'test/stories/accounts/talkative.test.ts',
    'a task of a person is followed in their name, and by the next process after a kill',
  ),
  pair(
    'account, expiry',
    'A request for an account expires, and the call did not run.',
    'test/stories/accounts/talkative.test.ts',
    'a request for an account expires: the call did not run, and the model is told',
  ),
  pair(
    'retry, two speakers',
    'The person who says that it runs again may, and is not barred.',
    'test/stories/unknown.test.ts',
    'does not run again for a person who could not approve it, who may still say what happened',
  ),
  pair(
    'retry, changed manifest',
    'Once it has started, its outcome is found or asked, whatever the rules say now.',
    'test/stories/effects-kill.test.ts',
    'a call of %s that took effect before its process was killed is asked about, if the manifest meanwhile %s',
  ),
  pair(
    'retry, crash',
    'An idempotent action is tried again with the same key.',
    'test/stories/effects-kill.test.ts',
    'an idempotent action whose process was killed in the middle is tried again with the same key and takes effect once',
  ),
  pair(
    'retry, expiry',
    'An approval that went stale does not end an action that was started in time.',
    'test/store/guards/runs.ts',
    'start-tried',
  ),
  pair(
    'two speakers, changed manifest',
    'A request ends for a person to whom the tool is no longer allowed.',
    'test/stories/changed-rules.test.ts',
    'a request does not run for a person to whom the tool is no longer allowed',
  ),
  pair(
    'two speakers, crash',
    'Words that arrive late or again after a restart start nothing new.',
    'test/stories/carried-over.test.ts',
    'words that were said to a colleague before the bot was mentioned and arrive late start nothing',
  ),
  pair(
    'changed manifest, crash',
    'A tool that changed while the bot was down does not run on the old approval.',
    'test/stories/changed-tools.test.ts',
    'a tool that its server changed while the bot was down does not run on the old approval, also without a lock',
  ),
  pair(
    'edit, expiry',
    'An expired request is not edited.',
    'test/oracle/checks.test.ts',
    'what expired with half of its approvals neither runs nor is edited, and counts for no limit',
  ),
  pair(
    'limit, expiry',
    'What expired counts nothing.',
    'test/oracle/checks.test.ts',
    'what expired with half of its approvals neither runs nor is edited, and counts for no limit',
  ),
  pair(
    'quorum of groups, expiry',
    'Half a quorum expires as none does.',
    'test/oracle/checks.test.ts',
    'what expired with half of its approvals neither runs nor is edited, and counts for no limit',
  ),
  pair(
    'freeze, changed manifest',
    'What changed during a freeze is asked again after it.',
    'test/oracle/checks.test.ts',
    'what changed while it was frozen does not run afterwards on the old approval',
  ),
  pair(
    'edit, preview',
    'The preview is that of the new arguments.',
    'test/stories/pairs/preview.test.ts',
    'an edited call has the preview of its new arguments',
  ),
  pair(
    'edit, undo',
    'The reverse is that of the arguments that ran.',
    'test/stories/pairs/undo.test.ts',
    'what is undone are the arguments that ran, not those that were edited away',
  ),
  pair(
    'edit, nested call',
    'An edit of the outer call approves no inner one, and an inner one is not edited.',
    'test/stories/pairs/nested.test.ts',
    'an edit of the outer call approves nothing inside it, and what is inside is not edited',
  ),
  pair(
    'edit, crash',
    'Of two edits one counts, also if its process dies before the new card.',
    'test/stories/pairs/crash-and-expiry.test.ts',
    'of two edits one counts, also if its process dies before the new card',
  ),
  pair(
    'grant, preview',
    'A grant is for arguments: a call under it has no preview, and one that it does not cover has its own.',
    'test/stories/pairs/preview.test.ts',
    'a grant is for arguments: a call under it has no preview, and one beside it has its own',
  ),
  pair(
    'grant, undo',
    'The reverse is asked for by its own rules, and a grant for it is not for whoever clicks Undo.',
    'test/stories/pairs/undo.test.ts',
    'a grant for the reverse is for those who asked for it, not for whoever clicks Undo',
  ),
  pair(
    'grant, account',
    'A grant lets nobody use the account of another.',
    'test/stories/pairs/account.test.ts',
    'a grant lets nobody use the account of another',
  ),
  pair(
    'grant, nested call',
    'A grant of the outer call allows no inner one.',
    'test/stories/pairs/nested.test.ts',
    'a grant of the outer call allows nothing inside it, and none is given there',
  ),
  pair(
    'grant, crash',
    'A process that dies after the use was taken does not take another.',
    'test/stories/pairs/crash-and-expiry.test.ts',
    'a call whose process dies after it took a use of a grant takes no other, and does not run again',
  ),
  pair(
    'limit, preview',
    'Both are looked at before the start.',
    'test/stories/pairs/preview.test.ts',
    'a changed preview counts for no limit, and a true one does not help over a limit',
  ),
  pair(
    'limit, undo',
    'The reverse counts as a call of its own tool.',
    'test/stories/pairs/undo.test.ts',
    'the reverse counts for the limits of its own tool, and gives nothing back to those of the first',
  ),
  pair(
    'limit, elicitation',
    'A call that pauses for its server counts once.',
    'test/stories/elicitation.test.ts',
    'an approved call that waits for its server counts once against a limit of %s',
  ),
  pair(
    'limit, account',
    'A call that waits for an account counts once, for its requester.',
    'test/stories/pairs/account.test.ts',
    'a call that waited for an account counts once, for its requester',
  ),
  pair(
    'limit, nested call',
    'A call that pauses for one inside it counts once; a tool inside another is none of the manifest and has no limit of its own.',
    'test/stories/pairs/nested.test.ts',
    'a call that pauses for one inside it counts once',
  ),
  pair(
    'freeze, preview',
    'After the freeze the preview is computed again.',
    'test/stories/pairs/preview.test.ts',
    'a preview that changed during a freeze is asked about after it',
  ),
  pair(
    'freeze, undo',
    'The reverse does not start while its tool is frozen.',
    'test/stories/pairs/undo.test.ts',
    'the reverse does not start while its tool is frozen',
  ),
  pair(
    'freeze, elicitation',
    'An answer does not continue a call that is frozen.',
    'test/stories/pairs/elicitation.test.ts',
    'an answer to a server does not continue a call that is frozen, under %s',
  ),
  pair(
    'freeze, account',
    'Connecting an account starts nothing that is frozen.',
    'test/stories/pairs/account.test.ts',
    'an account that is connected starts nothing that is frozen',
  ),
  pair(
    'freeze, nested call',
    'What waits inside a frozen tool does not start.',
    'test/stories/pairs/nested.test.ts',
    'what waits inside a call does not start while its tool is frozen',
  ),
  pair(
    'quorum of groups, preview',
    'A changed preview is put before each group again.',
    'test/stories/pairs/preview.test.ts',
    'where each group approves, a changed preview is put before each of them again',
  ),
  pair(
    'quorum of groups, undo',
    'The reverse needs each group too.',
    'test/stories/pairs/undo.test.ts',
    'where each group approves, the reverse needs each of them too',
  ),
  pair(
    'quorum of groups, first time',
    'A first time asks each group.',
    'test/stories/pairs/preview.test.ts',
    'where each group approves, a first time asks each of them, and the next call nobody',
  ),
  pair(
    'quorum of groups, crash',
    'A vote that was recorded counts in the next process, once.',
    'test/stories/pairs/crash-and-expiry.test.ts',
    'an approval for one group counts in the next process, and once',
  ),
  pair(
    'approver from input, changed manifest',
    'Another expression for the owner asks the new owner.',
    'test/stories/pairs/crash-and-expiry.test.ts',
    'another expression for the owner asks the new owner',
  ),
  pair(
    'approver from input, crash',
    'The owner on record is the one who was looked up for the card.',
    'test/stories/pairs/crash-and-expiry.test.ts',
    'the next process asks the owner who was looked up for the card, and nobody else',
  ),
  pair(
    'approver from input, expiry',
    'An owner who does not answer lets it expire.',
    'test/stories/pairs/crash-and-expiry.test.ts',
    'an owner who does not answer lets the request expire, and nobody approves it instead',
  ),
  pair(
    'preview, undo',
    'The reverse has its own preview.',
    'test/stories/pairs/preview.test.ts',
    'the reverse of an action has its own preview',
  ),
  pair(
    'preview, account',
    "A preview reads in nobody's name.",
    'test/stories/pairs/account.test.ts',
    "a preview reads in nobody's name",
  ),
  pair(
    'preview, nested call',
    'A pause inside a tool shows the inner call, without the preview of the outer one.',
    'test/stories/pairs/nested.test.ts',
    'a request inside a call shows that call, without the preview of the outer one',
  ),
  pair(
    'preview, changed manifest',
    'A preview that was added or taken away asks again.',
    'test/stories/pairs/preview.test.ts',
    'a preview that was added or taken away is asked about',
  ),
  pair(
    'preview, crash',
    'The next process computes the preview again before it starts.',
    'test/stories/pairs/preview.test.ts',
    'the next process compares the preview before it starts what the last one left approved',
  ),
  pair(
    'undo, elicitation',
    'A reverse call that asks, asks the person who clicked Undo.',
    'test/stories/pairs/elicitation.test.ts',
    'the reverse of an action asks the person who clicked Undo',
  ),
  pair(
    'undo, account',
    'A reverse call runs in the account of the person who clicked Undo.',
    'test/stories/pairs/account.test.ts',
    'a reverse call runs in the account of the person who clicked Undo',
  ),
  pair(
    'undo, retry',
    'An action with an unknown outcome is not undone.',
    'test/stories/pairs/undo.test.ts',
    'what may have run, or not, is not undone',
  ),
  pair(
    'undo, changed manifest',
    'The reverse is planned by the tool as it is now.',
    'test/stories/pairs/undo.test.ts',
    'the reverse is that of the tool as it is now, or none',
  ),
  pair(
    'undo, crash',
    'One Undo is asked once.',
    'test/stories/pairs/undo.test.ts',
    'an Undo whose process dies is asked once, and every click after it is told so',
  ),
  pair(
    'account, changed manifest',
    'Another server address asks for the account again, and sees no token before.',
    'test/stories/pairs/account.test.ts',
    'another address of the server asks for the account again',
  ),
  pair(
    'nested call, retry',
    'An idempotent outer call that is tried again repeats the inner one with the same key.',
    'test/stories/pairs/nested.test.ts',
    'an idempotent call that is tried again repeats what ran inside it with the same key',
  ),
  pair(
    'nested call, two speakers',
    'The requesters of the inner call are those of the outer one.',
    'test/stories/pairs/nested.test.ts',
    'nobody who asked for the outer call approves what is inside it',
  ),
  pair(
    'nested call, changed manifest',
    'An inner call is judged by the rules that hold when it starts.',
    'test/stories/pairs/nested.test.ts',
    'what waits inside a call does not start under other rules than those it was asked under',
  ),
  pair(
    'nested call, crash',
    'The next process asks for the inner call, and runs it once.',
    'test/stories/pairs/nested.test.ts',
    'the next process asks for what the last one left inside a call, and runs it once',
  ),
  pair(
    'nested call, expiry',
    'An inner request that expires ends the outer call in words.',
    'test/stories/pairs/nested.test.ts',
    'a request inside a call that expires ends the call in words',
  ),
  pair(
    'two speakers, expiry',
    'All requesters of what expired are requesters of what is asked for again.',
    'test/stories/pairs/crash-and-expiry.test.ts',
    'all who asked for what expired are requesters of what is asked for again',
  ),
  pair(
    'changed manifest, expiry',
    'Another deadline in a new manifest does not lengthen what waits.',
    'test/stories/pairs/crash-and-expiry.test.ts',
    'another deadline in a new manifest does not lengthen what waits',
  ),
  pair(
    'crash, expiry',
    'What expired while no process ran is not approved in the next one.',
    'test/stories/pairs/crash-and-expiry.test.ts',
    'what expired while no process ran is not approved in the next one, and expires there',
  ),
  pair(
    'edit, first time',
    'An edited call is judged and counted by what it touches now.',
    'test/oracle/first-times.test.ts',
    'an edit to another target is judged and counted by that one',
  ),
  pair(
    'grant, first time',
    'A grant covers a first time only if its condition says so; high risk is never granted.',
    'test/oracle/first-times.test.ts',
    'a grant covers a first time only if its condition says so',
  ),
  pair(
    'limit, first time',
    'A first time over a limit needs what both ask.',
    'test/oracle/first-times.test.ts',
    'a first time over a limit needs both approvals',
  ),
  pair(
    'freeze, first time',
    'What is frozen was not done.',
    'test/oracle/first-times.test.ts',
    'what is frozen or has expired was not done',
  ),
  pair(
    'preview, first time',
    'A changed preview asks again, with the first times of then.',
    'test/oracle/first-times.test.ts',
    'a preview that changed asks again, with the first times of then',
  ),
  pair(
    'undo, first time',
    'What was undone was done; the reverse counts for its own tool.',
    'test/oracle/first-times.test.ts',
    'a call that was undone was done all the same, and the one that undoes it counts for its own tool',
  ),
  pair(
    'elicitation, first time',
    'A call that waits for its server counts when it has ended, once.',
    'test/stories/first-times.test.ts',
    'a call that waits for its server is not done, and counts once when it is',
  ),
  pair(
    'account, first time',
    'A first call waits for the account and for approval.',
    'test/stories/first-times.test.ts',
    'a first call in the account of its requester waits for the account and for approval; the next for neither',
  ),
  pair(
    'nested call, first time',
    'The call inside counts for no first time, the one around it once.',
    'test/stories/nested.test.ts',
    'a pause inside a nested generate after the approval is asked as a request of its own, and continues from there',
  ),
  pair(
    'retry, first time',
    'An unknown outcome is no success.',
    'test/oracle/first-times.test.ts',
    'what was asked, rejected or is unknown was not done',
  ),
  pair(
    'two speakers, first time',
    'It is a first time if it is one for either.',
    'test/oracle/first-times.test.ts',
    'of two speakers each must have done it: one who has not is asked about',
  ),
  pair(
    'changed manifest, first time',
    'A changed rule about first times asks again.',
    'test/oracle/first-times.test.ts',
    'a changed rule about first times asks again',
  ),
  pair(
    'crash, first time',
    'A success is counted in the step that records it, once.',
    'test/oracle/first-times.test.ts',
    'a process that dies after the success is on record has counted it once, one that dies before has not',
  ),
  pair(
    'expiry, first time',
    'What has expired was not done.',
    'test/oracle/first-times.test.ts',
    'what is frozen or has expired was not done',
  ),
  pair(
    'edit, plan',
    'An edit of one step replaces the whole plan, which is asked again.',
    'test/stories/plans-held.test.ts',
    'an edit of one step replaces the whole plan, which is asked again with the new arguments',
  ),
  pair(
    'grant, plan',
    'A plan asks for what a grant would let run, and takes no use of it.',
    'test/stories/pairs/plan.test.ts',
    'a plan neither uses nor replaces what was allowed before',
  ),
  pair(
    'limit, plan',
    'A step over its limit is asked alone, and the rest waits.',
    'test/stories/plans-held.test.ts',
    'a step over its limit is asked alone, and the rest waits for it',
  ),
  pair(
    'freeze, plan',
    'A freeze holds the next step.',
    'test/stories/plans-held.test.ts',
    'a freeze holds the next step, and the plan goes on when it ends',
  ),
  pair(
    'delegation, plan',
    "A stand-in's approval covers a step as long as the person behind it may approve.",
    'test/stories/pairs/plan.test.ts',
    'the approval of a stand-in covers a step only as long as the person behind it may approve',
  ),
  pair(
    'quorum of groups, plan',
    'Each group approves the plan, and counts again at the start of each step.',
    'test/stories/pairs/plan.test.ts',
    'a plan needs each group of approvers, and so does each of its steps at its start',
  ),
  pair(
    'approver from input, plan',
    'A call that says itself who approves it is asked alone.',
    'test/engine/plans.test.ts',
    'a call whose policy takes its approvers from the call is asked alone',
  ),
  pair(
    'preview, plan',
    'The plan shows the preview of each step; one that has changed at its start is asked again.',
    'test/stories/pairs/plan.test.ts',
    'a plan shows the preview of each step, and one that another step has changed is asked again',
  ),
  pair(
    'undo, plan',
    'Each step that ran is undone by itself.',
    'test/stories/plans-held.test.ts',
    'each step that ran can be undone by itself from the card of the plan',
  ),
  pair(
    'elicitation, plan',
    'Nothing after a step runs while its server waits for an answer.',
    'test/stories/pairs/plan.test.ts',
    'the rest of a plan neither runs nor is asked for while the server of a step waits for an answer',
  ),
  pair(
    'account, plan',
    'The plan says in whose account a step runs.',
    'test/stories/pairs/plan.test.ts',
    'a plan says in whose account its steps run, and they run there',
  ),
  pair(
    'nested call, plan',
    'Nothing after a step runs while a call inside it waits.',
    'test/stories/pairs/plan.test.ts',
    'the rest of a plan neither runs nor is asked for while a call inside a step waits',
  ),
  pair(
    'retry, plan',
    'An idempotent step that is tried again holds nothing.',
    'test/stories/pairs/plan.test.ts',
    'an idempotent step that is tried again holds nothing, and books its effect once',
  ),
  pair(
    'two speakers, plan',
    'Nobody who asked approves a plan.',
    'test/stories/pairs/plan.test.ts',
    'nobody who asked approves a plan, nor whose remark was read under a policy that says so',
  ),
  pair(
    'changed manifest, plan',
    'A step that others have to approve now is asked again.',
    'test/stories/plans-held.test.ts',
    'a step that the rules of now ask others about does not run on the plan, and is asked again with the rest',
  ),
  pair(
    'crash, plan',
    'What ran is a prefix of what was approved, and each once.',
    'test/stories/plans-property.test.ts',
    'whatever fails or is killed, what ran is a prefix of what was approved, byte for byte, and each once',
  ),
  pair(
    'expiry, plan',
    'A step that cannot start in time after the approval of its plan is asked again.',
    'test/stories/pairs/plan.test.ts',
    'a step that cannot start in time after the approval of its plan is asked again',
  ),
  pair(
    'first time, plan',
    'The plan says the first times and is asked by them, also if a step of it ends them.',
    'test/stories/pairs/plan.test.ts',
    'a plan is asked by the first times of its proposal and says them, also if its first step ends them',
  ),
  pair(
    'edit, passkey',
    'An edited request needs new signatures over its new digest.',
    'test/page/passkey-pairs.test.ts',
    'an edited request needs new signatures over its new digest, and no signature over the old one counts',
  ),
  pair(
    'grant, passkey',
    'The terms of a grant are signed with it, and a key that is removed takes it with it.',
    'test/page/passkey-pairs.test.ts',
    'a grant is signed with its terms, and a later call under it needs no new signature',
  ),
  pair(
    'limit, passkey',
    'A signature does not help over a limit.',
    'test/page/passkey-pairs.test.ts',
    'a signature does not help over a limit: people are asked again, and sign anew',
  ),
  pair(
    'freeze, passkey',
    'A signature is checked again after the freeze.',
    'test/page/passkey-refusals.test.ts',
    '%s between the signature and the start: it does not run (%s)',
  ),
  pair(
    'delegation, passkey',
    'A delegate signs with their own key, in whose place is signed too.',
    'test/page/passkey-pairs.test.ts',
    'a delegate signs with their own key, and the proof names in whose place',
  ),
  pair(
    'quorum of groups, passkey',
    'Each group signs; one key fills one place.',
    'test/page/passkey-pairs.test.ts',
    'each group signs, and who is in both signs for one of them',
  ),
  pair(
    'approver from input, passkey',
    'Only the owner gets a link.',
    'test/page/passkey-pairs.test.ts',
    'the owner whom the call names signs, and nobody else gets a link',
  ),
  pair(
    'two speakers, passkey',
    'Nobody who asked signs.',
    'test/page/passkey-pairs.test.ts',
    'who asked signs nothing, although their key counts',
  ),
  pair(
    'changed manifest, passkey',
    'A click does not count where the rules now ask for a signature.',
    'test/page/passkey-pairs.test.ts',
    'what was approved with a click before the rules asked for passkeys is asked again, and signed',
  ),
  pair(
    'crash, passkey',
    'A signature that was on its way is neither lost nor used twice.',
    'test/page/passkeys-kill.test.ts',
    'a process that dies after the assertion and before the vote, or after the vote and before the start: nothing is lost, nothing runs twice',
  ),
  pair(
    'expiry, passkey',
    'What has expired is not signed.',
    'test/page/passkey-pairs.test.ts',
    'a request that has expired is not signed',
  ),
  pair(
    'plan, passkey',
    'A plan is signed as a whole, or the steps that were chosen.',
    'test/page/passkey-pairs.test.ts',
    'who chooses steps of a plan signs these alone, and the others do not run',
  ),
];

/** Pairs that cannot meet, and why. */
export const APART: readonly (readonly [features: string, why: string])[] = [
  [
    'elicitation, nested call',
    'A server asks in a call of its own tool, and a `generate` inside a module is given no tool of a server.',
  ],
  [
    'account, nested call',
    'Only the tools of servers run in the account of a person, and a `generate` inside a module is given none of them.',
  ],
];

/** Ways in which a promise broke: each was seen to fail, and has a test since. */
export const BROKEN: readonly { readonly what: string; readonly file: string; readonly title: string }[] = [
  {
    what: 'Who asked was forgotten at each answer of the model.',
    file: 'test/stories/carried-over.test.ts',
    title: 'who asked is a requester until what was asked is decided and told',
  },
  {
    what: 'A grant of one owner was used for what another owns.',
    file: 'test/stories/closed-when-in-doubt.test.ts',
    title: 'a grant that the owner of one thing gave is not for what somebody else owns',
  },
  {
    what: "A limit's policy took the place of a stricter one.",
    file: 'test/policy/strictest.test.ts',
    title: 'a limit names the verdict, and its policy is asked beside that of the rules',
  },
  {
    what: 'An argument that is left out skipped a rule.',
    file: 'test/stories/closed-when-in-doubt.test.ts',
    title: 'a call that leaves out what a rule asks about is not approved by fewer',
  },
  {
    what: 'A gap between two conditions ran free.',
    file: 'test/stories/closed-when-in-doubt.test.ts',
    title: 'a call between two conditions is asked about',
  },
  {
    what: 'A limit for a mistyped tool was no limit.',
    file: 'test/commands/mistakes/names.ts',
    title: 'an unknown tool in limits',
  },
  {
    what: 'A call ran in the account of somebody who did not ask for it.',
    file: 'test/stories/accounts/connect.test.ts',
    title: "runs in nobody's account, and the thread is told",
  },
  {
    what: 'Another value of a variable replaced the approvers.',
    file: 'test/stories/policy-changes.test.ts',
    title: 'another value of the environment for an approver is a change as well',
  },
  {
    what: 'A server took the name of a module, or brought a new tool.',
    file: 'test/tools/toolbox/servers.test.ts',
    title: 'the name of a module that cannot be loaded stays with its entry',
  },
  {
    what: 'An unchanged edit made a requester; guests were asked to confirm.',
    file: 'test/stories/requesters.test.ts',
    title: 'an edit that changes nothing is refused in the modal, and makes nobody a requester',
  },
  {
    what: 'Two different calls had the same card.',
    file: 'test/bot/views/cards/cards-differ.test.ts',
    title: 'two different calls never have the same card',
  },
  {
    what: 'The card of a pause inside a tool showed the outer call.',
    file: 'test/stories/pairs/nested.test.ts',
    title: 'a request inside a call shows that call, without the preview of the outer one',
  },
  {
    what: 'The requester alone answered a server after the approval.',
    file: 'test/stories/answers.test.ts',
    title: 'in an approved call is shown to the approvers, who decide what is booked',
  },
  {
    what: 'What a module imports was not in the digest.',
    file: 'test/tools/toolbox/request-digest.test.ts',
    title: 'a changed file that a module imports from its folder gives another digest',
  },
  {
    what: 'A module that throws after its effect had *failed*.',
    file: 'test/stories/outcomes.test.ts',
    title: 'that throws after its effect has an unknown outcome',
  },
  {
    what: '`isError` of a server was *failed*.',
    file: 'test/tools/mcp/outcomes.test.ts',
    title: 'after a result with isError the outcome is unknown',
  },
  {
    what: 'A body that cannot be read was *failed*.',
    file: 'test/tools/http/outcomes.test.ts',
    title: 'has an unknown outcome after %s',
  },
  {
    what: 'Other rules made *not run* of what had started.',
    file: 'test/stories/changed-rules.test.ts',
    title: 'an action that was started before and may not be tried again has an unknown outcome',
  },
  {
    what: 'A crash between two steps skipped a limit. There are no two steps any more: the script that starts it counts it.',
    file: 'test/store/races/policy-races.test.ts',
    title: 'actions at the edge of a limit never one too many starts',
  },
  {
    what: 'A stop was lost with its process.',
    file: 'test/stories/stop.test.ts',
    title: 'a stop holds for the process that takes over after the one that received it died',
  },
  {
    what: 'A pattern of an admin held the whole bot.',
    file: 'test/policy/condition.test.ts',
    title: 'decides in linear time',
  },
  {
    what: 'A thread killed every process that took it up.',
    file: 'test/stories/deadly-threads.test.ts',
    title: 'that one is quarantined, the admins are told, and all others end',
  },
  {
    what: 'A limit read all actions of its window. It keeps a sum now; `npm run bench -- limits` shows the time at 100,000 entries.',
    file: 'test/stories/limits.test.ts',
    title: 'a condition sees what a limit has counted',
  },
  {
    what: 'The signer signed a forged log.',
    file: 'test/audit/forgeries.test.ts',
    title: 'there are at least 40 forgeries, and somebody finds each',
  },
  {
    what: 'An account was lost between two processes.',
    file: 'test/bot/connections/person-connections.test.ts',
    title: 'an account whose refresh token was used a second time',
  },
  {
    what: 'Where a stream was flushed broke code and revived links.',
    file: 'test/bot/views/streamed-prefixes.test.ts',
    title: 'what was sent of a growing answer is the beginning of the whole answer',
  },
  {
    what: 'Models without reasoning, gateways with chat only.',
    file: 'test/agent/openai/refusals.test.ts',
    title: 'comes back to chat from a gateway that has no Responses',
  },
  {
    what: 'Recursive schemas, inherited names, other libraries.',
    file: 'test/agent/schemas.test.ts',
    title: 'checks every level of a value',
  },
  {
    what: '`kubectl apply` overwrote the secret; ids of events repeated.',
    file: 'test/deploy/deploy.test.ts',
    title: 'apply no secret, since one with placeholders would take the place of the real one',
  },
  {
    what: 'Redis without a password; first-seen tools were forgotten at a restart.',
    file: 'test/stories/changed-tools.test.ts',
    title: 'a tool that its server changed while the bot was down needs approval',
  },
];

/** Sentences that cards, Home and notices said once and that were not true; each with what they say now, and the tests that hold it. */
export const UNTRUE: readonly {
  readonly said: string;
  readonly now: string;
  readonly tests: readonly (readonly [file: string, title: string])[];
}[] = [
  {
    said: 'Outcome confirmed of what did not run',
    now: 'icon and word follow the verdict',
    tests: [
      [
        'test/stories/unknown.test.ts',
        'that did not run, as somebody found out, leads the model there and runs no more',
      ],
    ],
  },
  {
    said: 'You have nothing to stop while an action runs; the model spoke after a stop',
    now: 'what runs, and that it cannot be stopped; the model waits',
    tests: [
      [
        'test/stories/stop.test.ts',
        'a stop while an approved action runs says what runs and that it cannot be stopped from here',
      ],
    ],
  },
  {
    said: 'the old card, for 51 s after a click',
    now: 'only changed cards are drawn; decisions have a reserve',
    tests: [
      [
        'test/stories/crowded.test.ts',
        'with 31 waiting and a freeze on all their cards, an approval changes its card, and the Homes of two people, at the limits of Slack',
      ],
      ['test/stories/freeze.test.ts', 'a freeze of one tool changes no card of another'],
    ],
  },
  {
    said: 'the cards of one turn, in any order',
    now: 'the order of the calls, with their number',
    tests: [['test/stories/one-turn.test.ts', '']],
  },
  {
    said: 'replaced, after an edit without a change',
    now: "You haven't changed anything; a wrong value is named",
    tests: [
      [
        'test/stories/requesters.test.ts',
        'an edit that changes nothing is refused in the modal, and makes nobody a requester',
      ],
      ['test/bot/views/modals/forms.test.ts', ''],
    ],
  },
  {
    said: 'Waiting for approval in the plan, after the action ran',
    now: 'Sent for approval, without a tick',
    tests: [['test/stories/conversation.test.ts', 'Sent for approval']],
  },
  {
    said: 'The worker stopped, of a 504',
    now: 'the cause, and the last progress',
    tests: [
      [
        'test/stories/unknown.test.ts',
        'an approved POST that a gateway answered with 504 has an unknown outcome, and is not sent a second time',
      ],
      ['test/bot/views/cards/build-card.test.ts', 'Last progress'],
    ],
  },
  {
    said: 'what was decided, as waiting, in an open Home',
    now: 'Home is published again, and says of which moment it is',
    tests: [
      [
        'test/stories/crowded.test.ts',
        'Home lists what waits by risk and by expiry, says who asked, where and how long, and approves what one click approves',
      ],
    ],
  },
  {
    said: 'Running, Expires tomorrow in Details of what has ended',
    now: 'Details follows its request',
    tests: [['test/stories/details.test.ts', '']],
  },
  {
    said: 'guests, bots and strangers can confirm the outcome',
    now: 'only who could approve',
    tests: [['test/stories/unknown.test.ts', 'is put before nobody who could not approve either']],
  },
  {
    said: "couldn't reach the model, of an error in its stream",
    now: 'The model failed to answer',
    tests: [['test/stories/models.test.ts', 'fails within its answer']],
  },
  {
    said: 'nothing, to the other admins, of a freeze',
    now: 'who froze what; the local Slack refuses empty texts',
    tests: [
      ['test/stories/freeze.test.ts', 'the other admins are told who froze and unfroze'],
      ['test/playground/slack/check-blocks.test.ts', ''],
    ],
  },
  {
    said: 'Open the thread to a place that nobody can open; 1 request is waiting after the last; no Stopped between two tools; nothing of a refused edit',
    now: 'no link; Nothing left on this list; Stopped; the reason in the form',
    tests: [
      ['test/stories/copies.test.ts', ''],
      ['test/stories/summary.test.ts', ''],
      ['test/stories/stop.test.ts', 'a stopped turn says what had already run'],
      ['test/stories/requesters.test.ts', 'an edit that a rule or a limit denies is explained in the modal'],
    ],
  },
  {
    said: 'a rejection without who had approved; Replaced, of what a limit stopped',
    now: 'both are named; Did not run',
    tests: [
      ['test/stories/approval.test.ts', 'one rejection ends it, also after an approval'],
      ['test/stories/limits.test.ts', 'of two approved actions that only fit one by one'],
    ],
  },
];
