/** A way in which a promise broke in the fourth round of attacks, and the test that shows that it holds: a file and a part of its title. */
export interface Mended {
  readonly what: string;
  readonly file: string;
  readonly title: string;
}

const ROWS: readonly (readonly [what: string, file: string, title: string])[] = [
  [
    'A stolen session delegated a passkey approval.',
    'page/signed-delegation',
    'a delegation that the approver has signed counts',
  ],
  ['… and a delegation whose key is gone.', 'page/signed-delegation', 'once the key is removed that signed'],
  [
    'The words of an approved row could be changed with the audit key.',
    'page/proofs',
    'every field of every row is changed, one at a time',
  ],
  [
    'One click took `confirm: passkey` out of the rules.',
    'page/passkeys',
    'where a change of the rules needs a passkey, a click does not take the passkeys out',
  ],
  [
    '… and no command said so.',
    'commands/manifest',
    'a change of the rules that needs less than the rules is a warning',
  ],
  [
    'A checkpoint was put back over rows that a restore had taken.',
    'audit/signer',
    'gets nothing put back, and is signed on with a new memory',
  ],
  ['The documented restore failed.', 'stories/restore', 'is restored as docs/operate.md says: it is told'],
  [
    'What a restore had lost was told by row, not by request.',
    'audit/verify',
    'a restored log names the requests that are missing',
  ],
  [
    '`doctor` was content with a log that nobody signs.',
    'commands/doctor',
    'a log that does not continue what was signed is a failure',
  ],
  [
    '`doctor` was content with a Redis that refuses writes.',
    'commands/doctor',
    'a Redis that refuses writes is a failure',
  ],
  ['The OpenAPI document was a 500.', 'stories/door-openapi', 'is valid OpenAPI 3.1 with an id and refusals'],
  [
    'No client could be made from it.',
    'stories/door-openapi',
    'a client made from the document alone makes a whole ask',
  ],
  [
    'A cancelled MCP call was carried out.',
    'stories/door-cancel',
    'has cancelled its call: it is withdrawn, and the card says so',
  ],
  [
    'Claims that name nobody let every repository in.',
    'tools/manifest/claims',
    'with claims that anybody can have are an error',
  ],
  [
    'An ask with a long diff reached no approver.',
    'stories/door-asks',
    'an ask with 120 lines of diff reaches each approver with a button',
  ],
  [
    'A software key chose the code that confirms it.',
    'page/passkeys',
    'only the person has the code of a new key',
  ],
  ['One credential was enrolled for two people.', 'page/passkeys', 'a key is of one person'],
  ['A copied session removed a key.', 'page/passkeys', 'removing a key needs a fresh sign-in'],
  [
    'One click paid a second time where two people had approved.',
    'stories/unknown',
    'is not offered to run again on one click where two people approved it',
  ],
  [
    'A retry under a key whose request was gone ran again.',
    'stories/door',
    'a key whose request is no longer kept is refused, and nothing runs again',
  ],
  ['Any row could be hidden as erased.', 'audit/erase', 'a row that somebody hides as erased is found'],
  [
    'A signed plan could not retry an idempotent step.',
    'page/passkey-pairs',
    'an idempotent step of a signed plan is tried again on that signature',
  ],
  [
    '*Run again* of a signed step did nothing.',
    'page/passkey-pairs',
    'a step of a signed plan whose outcome is unknown is not run again by a click',
  ],
  [
    'A step approved alone said *Starting…* while it waited.',
    'stories/plans',
    'a step that is asked alone and approved first waits for its turn',
  ],
  [
    'A withdrawn request of a caller still counted as pending.',
    'stories/door-callers',
    'a withdrawn request of a caller makes room for the next one at once',
  ],
  [
    'One caller took the waiting connections of all.',
    'stories/door-waiting',
    'is told when to ask again, and others wait on',
  ],
  [
    '`ask` asked again 76 times a second.',
    'stories/door-waiting',
    'does not ask again before the bot has said so',
  ],
  ['300 requests closed the sign-in for everybody.', 'page/sign-in', 'signs in through a flood of others'],
  [
    '1,000 idle connections refused `/health`.',
    'http/connections',
    'keep nobody out, and a request that waits goes on',
  ],
  [
    '`ask -- ./deploy.sh` approved the words, not the script.',
    'stories/door-shell',
    'a script that the command names is on the card by size and digest',
  ],
  [
    'The hook digested only the `command` of what looks like Bash.',
    'stories/door-hook',
    'all of the input is on the card, whatever the tool',
  ],
  [
    'A request outlived the decision at the terminal.',
    'stories/door-hook',
    'what the person at the terminal decided after the wait is withdrawn',
  ],
  [
    'A result that arrived while Redis was away was thrown away.',
    'stories/record-away',
    'a result that arrives while Redis is away is kept',
  ],
  ['A process that had logged *stopped* lived on.', 'main', 'ends the process'],
  [
    'No metric and no alert said that Slack was away or a token revoked.',
    'observe/metrics',
    'say that Slack cannot reach the bot, refuses its token',
  ],
  ['A `maxmemory` of before stayed in the metrics.', 'observe/metrics', 'follow a maxmemory'],
  [
    'A rejection under `veto: false` was shown nowhere.',
    'stories/votes',
    'a rejection that does not end the request stays on the card with its reason',
  ],
  [
    'A token of any age was taken.',
    'stories/door-callers',
    'a token may end at a fraction of a second, or far away',
  ],
  [
    'A caller whose owner had left still asked.',
    'stories/door-callers',
    'a caller whose owner is deactivated asks for nothing',
  ],
  [
    'A redirect of a webhook was followed.',
    'stories/door-callers',
    'a webhook that redirects is not followed',
  ],
  [
    '*stop* had no answer while a call was on its way.',
    'stories/stop',
    'a stop while a call without approval is on its way is answered',
  ],
  [
    'Guests and bots were named as those who can confirm.',
    'stories/unsigned-effects',
    'names nobody who could not confirm it',
  ],
  [
    'Words just before a mention were missing.',
    'stories/thread-context',
    'words said just before a mention, whose event arrives while its turn begins',
  ],
  [
    'A click was acknowledged before it was on record.',
    'stories/slow-slack',
    'a freeze, and the ends of a freeze, a grant and a delegation, are on record or held for another process before Slack hears of them',
  ],
  [
    'A link with a backslash was read in two ways.',
    'stories/door',
    'an address with a backslash before an "@"',
  ],
  [
    'A quote left the quotes of the header.',
    'stories/door-asks',
    'a command with quotes like ours stays within those of the header',
  ],
  [
    'What a limit asked did not count as pending.',
    'stories/door',
    'what waits because of a limit counts among the pending requests',
  ],
  [
    'A question for anyone was whole for any member with its id.',
    'page/views',
    'a question that anyone of a channel may answer is shown to who asked',
  ],
  [
    'Words of strangers below the card reached the caller.',
    'stories/door-callers',
    'what somebody who may not ask writes below the card does not reach the caller',
  ],
  [
    'A library took an expired receipt.',
    'stories/door-asks',
    'the receipt is verified offline, it starts once and reports',
  ],
  [
    'A signed body that cannot be read came again.',
    'bot/slack/http',
    'a signed body that is nothing of Slack’s',
  ],
  [
    'A rotation of keys refused tokens for 30 s.',
    'door/issuer-keys',
    'a token of a key that its issuer has just made is good at once',
  ],
  [
    '`tools/list` dropped hints and output schemas.',
    'stories/door-mcp',
    'a list has the hints that the manifest stands for',
  ],
  ['Images of tools became a text.', 'stories/door-mcp', 'images of a result reach a caller beside its text'],
  [
    '`stream_options` refused with 400 ended the turn.',
    'agent/openai/compatible-servers',
    'is asked again without it, and never with it again',
  ],
  [
    'A hostile title of a module read as ours.',
    'tools/presentation/presentation',
    'in quotes unless it is a word, so that it is not read as words of the card',
  ],
  ['`/v1/../metrics` passed a proxy.', 'http/paths', 'an address has one spelling'],
  ['Flooding brought the escalation forward.', 'stories/load', 'brings nobody’s escalation forward'],
  [
    '`freeze caller:typo` listed tools.',
    'stories/door-callers',
    'a frozen caller is refused, and what people had approved for it is held',
  ],
  [
    'A rule at the top was shown as a shift of all.',
    'tools/manifest/govern',
    'a rule that is inserted at the top shifts no other',
  ],
  [
    '`conversations.info` was called without its scope.',
    'bot/slack/directory',
    'without the scope Slack is not asked for it',
  ],
  [
    'The counter of a limit survived `erase`.',
    'commands/erase',
    'a limit that counts for each requester forgets the person',
  ],
];

export const FOURTH: readonly Mended[] = ROWS.map(([what, file, title]) => ({
  what,
  file: `test/${file}.test.ts`,
  title,
}));
