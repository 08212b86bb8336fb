import { JSONS, type JsonName, TEXTS } from './corpus.ts';
import { TEXT_TABLE } from './text-table.ts';

const NO_JSON: readonly JsonName[] = ['single quotes', 'not a number', 'cut off', 'two documents'];
const DEEP: readonly JsonName[] = ['depth 1,000', 'depth 100,000'];

type Outcomes = Readonly<Record<string, readonly string[]>>;
type Jsons = Readonly<Record<string, readonly JsonName[]>>;

const POLLUTED = '"__proto__":{"approved":true},"constructor":{"prototype":{"approved":true}}';

/** JSON: of two readings there is one, and it is the one that is shown. */
const JSON_TABLE = {
  'the bytes of arguments': {
    'runs as shown: {"note":"pay-the-bearer","amount":99999}': ['duplicate keys'],
    [`runs as shown: {"note":"pay-the-bearer",${POLLUTED}}`]: ['__proto__'],
    'runs as shown: {"note":"pay-the-bearer \\ud800"}': ['half a character, escaped'],
    'in the full view only': ['megabyte string', 'ten thousand keys'],
    'refused: arguments are nested more than 64 levels deep': DEEP,
    'refused: arguments are not valid JSON': [...NO_JSON, 'a byte order mark'],
    'refused: arguments do not fit the schema of': ['a list'],
    'refused: number 1e400 at': ['number beyond all bounds'],
    'refused: number 1152921504606846977 at': ['number beyond what is exact'],
  },
  'JSON in the edit form': {
    'asked anew: {"note":"small","data":{"note":"pay-the-bearer","amount":99999}}': ['duplicate keys'],
    [`asked anew: {"note":"small","data":{"note":"pay-the-bearer",${POLLUTED}}}`]: ['__proto__'],
    'asked anew: {"note":"small","data":{"note":"pay-the-bearer \\ud800"}}': ['half a character, escaped'],
    "refused: The number 1e400 can't be stored exactly. Put it in quotes.": ['number beyond all bounds'],
    "refused: The number 1152921504606846977 can't be stored exactly. Put it in quotes.": [
      'number beyond what is exact',
    ],
    'refused: This is nested more than 200 levels deep.': ['depth 1,000'],
    'refused: This is not JSON': [...NO_JSON, 'a byte order mark'],
    'refused: must be object': ['a list'],
    'Slack does not take it': ['depth 100,000', 'megabyte string', 'ten thousand keys'],
  },
  'the bytes of an output': {
    'shown, and told as data': [
      'duplicate keys',
      '__proto__',
      'number beyond all bounds',
      'number beyond what is exact',
      'half a character, escaped',
      'a list',
      'a byte order mark',
    ],
    'done, and its output is refused: nested more than': DEEP,
    'done, and its output is refused: over the limit': ['megabyte string', 'ten thousand keys'],
    'in doubt, and people are asked': NO_JSON,
  },
  'the bytes of a report': {
    'shown, and told as data': ['duplicate keys', '__proto__', 'half a character, escaped', 'a list'],
    'cut, and said so': ['ten thousand keys'],
    "refused with 400: The body is not JSON, is nested too deep, or has a number that can't be stored exactly; send such a number as a string.":
      [...NO_JSON, ...DEEP, 'number beyond all bounds', 'number beyond what is exact', 'a byte order mark'],
    'refused with 413: The body is longer than 1 MB.': ['megabyte string'],
  },
  'the bytes of the manifest': {
    'taken as data': [
      'number beyond all bounds',
      'number beyond what is exact',
      'ten thousand keys',
      'half a character, escaped',
      'single quotes',
      'not a number',
      'a list',
    ],
    'refused: appears twice': ['duplicate keys'],
    'refused: __proto__': ['__proto__'],
    'refused: nests deeper': ['depth 1,000'],
    'refused: a manifest has at most': ['depth 100,000', 'megabyte string'],
    'refused: is not valid YAML': ['cut off', 'two documents'],
    'refused: invisible character': ['a byte order mark'],
  },
} satisfies Readonly<Record<string, Jsons>>;

const OUTSIDE_CLICKS = {
  'a click over HTTP': {
    'refused with 401': ['unsigned', 'wrong-secret', 'tampered', 'stale', 'future', 'replayed'],
    'answered with 200, and not read': ['ssl_check with a click in it'],
    'counts once': ['delivered twice'],
    'told: Only members of this workspace can decide this.': [
      'of another team',
      'of another team with the id of an approver',
    ],
    "told: You can't decide this from here. Use the buttons on the request's own card.": [
      'from another channel',
    ],
  },
  'a modal submitted over HTTP': {
    'told: Only members of this workspace can decide this.': [
      'a rejection of another team',
      'a rejection of another team with the id of an approver',
      'an edit of another team with the id of an approver',
    ],
  },
  'a click over a socket': {
    'told: Only <@U0ALICE002> or <@U0BRUNO003> can approve this.': [
      'by the requester',
      'by a colleague who may not sign',
    ],
    "told: Guests can't decide this.": ['by a guest'],
    'told: Only members of this workspace can decide this.': ['by somebody of another company'],
    "told: You've already approved. Waiting for others.": ['a second time by the same person'],
    'told: This request no longer exists.': [
      'on a request that is none',
      'on a thread in place of a request',
    ],
    'told: Please choose something first.': ['of a choice that was never offered'],
    'told: Only a requester can see the address.': ['of an answer to an approval'],
    'told: This is already withdrawn, by <@U0REMI0001>.': ['on a card that is settled'],
    'told: Only an expired request can be requested again. Status: waiting.': [
      'on another card of the same channel',
    ],
  },
};

/** An obedient model can propose; who signs, how many and until when is the manifest's. */
const ORDERS: Outcomes = {
  'waits for 1 of U0ALICE002, U0BRUNO003 for 4 h': [
    'says that it is approved',
    'picks the approvers',
    'lengthens the expiry',
    'chooses the rule',
    'speaks as the gate does',
    'asks the requester in place of the approvers',
    'lets a form approve',
    'asks again and again',
  ],
  'waits for 2 of U0ALICE002, U0BRUNO003 for 1 h': ['lowers the quorum'],
  'refused: there is no tool': ['invents tools that decide'],
  'a reply, and nothing else': ['declares it done'],
};

/** The entry points of hostile values. */
export type Entry =
  | keyof typeof TEXT_TABLE
  | keyof typeof JSON_TABLE
  | keyof typeof OUTSIDE_CLICKS
  | 'an order in the thread'
  | 'an order in the output of a tool';

/** One line of the table. */
export interface Row {
  readonly entry: Entry;
  readonly item: string;
  readonly outcome: string;
}

const TABLE: Readonly<Record<Entry, Outcomes>> = {
  ...TEXT_TABLE,
  ...JSON_TABLE,
  ...OUTSIDE_CLICKS,
  'an order in the thread': ORDERS,
  'an order in the output of a tool': ORDERS,
};

/** Every item of hostile input, by entry, with its outcome. */
export const ROWS: readonly Row[] = entriesOf(TABLE).flatMap(([entry, outcomes]) =>
  Object.entries(outcomes).flatMap(([outcome, items]) => items.map((item) => ({ entry, item, outcome }))),
);

/** The items that each entry has to have: all texts, all JSON, or what is listed where it is played. */
export function itemsFor(entry: Entry): readonly string[] | undefined {
  if (entry in TEXT_TABLE) return TEXTS.map(({ name }) => name);
  return entry in JSON_TABLE ? JSONS.map(({ name }) => name) : undefined;
}

function entriesOf<Key extends string, Value>(record: Readonly<Record<Key, Value>>): [Key, Value][] {
  return Object.entries(record) as [Key, Value][];
}
