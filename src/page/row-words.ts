import { isJsonObject, type JsonObject, tryParseJson } from '../agent/json.ts';
import { type AuditEvent, isAuditEvent } from '../store/port/audit-events.ts';
import type { LogRow } from './protocol.ts';

/** What a row of the log says: the person or caller who did it, if somebody did, and the words behind the name. */
export interface RowWords {
  readonly who?: string | undefined;
  readonly words: string;
}

interface RowParts {
  /** The words of the detail. */
  readonly parts: readonly string[];
  readonly body: JsonObject;
  readonly subject: string;
}

type Tell = (row: RowParts) => RowWords;

const ID = /^(?:[UW][A-Z0-9]{4,20}|caller:\S+)$/;

const by = (id: string | undefined, words: string, alone: string = words): RowWords =>
  id !== undefined && ID.test(id) ? { who: id, words } : { words: capital(alone) };
const alone =
  (words: string): Tell =>
  () => ({ words });
const first =
  (words: string, without?: string): Tell =>
  ({ parts: [id] }) =>
    by(id, words, without);
const last =
  (words: string): Tell =>
  ({ parts }) =>
    by(parts.at(-1), words);
const ofSubject =
  (words: string): Tell =>
  ({ subject }) =>
    by(subject, words);

const VOTES: Readonly<Record<string, string>> = { approve: 'approved', reject: 'rejected' };
const VERDICTS: Readonly<Record<string, string>> = {
  ran: 'confirmed that it ran',
  'did-not-run': "confirmed that it didn't run",
  'run-again': 'had it run again',
};

const EVENTS: Readonly<Record<AuditEvent, Tell>> = {
  asked: ({ body: { requester, requesters } }) =>
    by(textIn(Array.isArray(requesters) ? requesters[0] : requester), 'asked'),
  voted: ({ parts: [decision = '', who, ...count], body: { proof } }) =>
    by(
      who,
      `${VOTES[decision] ?? decision}${isJsonObject(proof) ? ' with a passkey' : ''} (${count.join(' ')})`,
    ),
  chosen: last('chose the steps'),
  answered: first('answered'),
  approved: ({ parts }) => ({ words: `Approved: quorum reached (${parts.join(' ')})` }),
  granted: alone('Pre-approval given'),
  rejected: first('ended it by the rejection', 'Rejected'),
  expired: alone('Expired with no decision'),
  withdrawn: first('withdrew it', 'Withdrawn'),
  superseded: alone('Replaced, or ended without a start'),
  abandoned: alone('Failed: it could not be shown or continued'),
  reminded: alone('Reminder sent'),
  escalated: alone('Escalated: no decision yet'),
  held: alone('Held by a freeze'),
  started: ({ parts: [, number = '1'] }) => ({
    words: number === '1' ? 'Started' : `Started again (attempt ${number})`,
  }),
  retried: alone('Retried after a crash'),
  paused: alone('Waits for its server or tool'),
  succeeded: alone('Done'),
  failed: alone('Failed: it did not happen'),
  unknown: alone('Outcome unknown'),
  late: alone('A worker that was given up reported'),
  resolved: ({ parts: [verdict = '', who] }) => by(who, VERDICTS[verdict] ?? verdict),
  refused: ({ parts: [code = '', who] }) => by(who, `was refused (${code})`),
  'undo-asked': ({ body: { by: who } }) => by(textIn(who), 'asked for an undo'),
  denied: alone('A call was denied by the rules'),
  'effect-started': alone('A call without approval started'),
  'effect-succeeded': alone('A call without approval is done'),
  'effect-paused': alone('A call without approval waits for its server or tool'),
  'effect-failed': alone('A call without approval failed'),
  'effect-unknown': alone('A call without approval has an unknown outcome'),
  'effect-late': alone('A call without approval reported late'),
  'grant-opened': alone('Pre-approval opened'),
  'grant-used': alone('Pre-approval used'),
  'grant-revoked': first('revoked a pre-approval'),
  frozen: ({ body: { who } }) => by(textIn(who), 'froze actions', 'actions were frozen'),
  unfrozen: first('ended the freeze', 'the freeze ended'),
  'unfreeze-voted': first('approved to end the freeze'),
  quarantined: alone('A thread was quarantined'),
  unquarantined: alone('A thread is processed again'),
  unreadable: alone('A row could not be read'),
  configured: alone('The manifest was changed on the server'),
  'manifest-adopted': first('accepted the manifest of the file'),
  delegated: ({ body: { from } }) => by(textIn(from), 'let somebody else decide for them'),
  'delegation-signed': last('signed a delegation'),
  'delegation-ended': last('ended a delegation'),
  'passkey-added': last('added a passkey'),
  'passkey-confirmed': last('confirmed a passkey'),
  'passkey-renamed': last('renamed a passkey'),
  'passkey-removed': last('removed a passkey'),
  connected: ofSubject('connected an account'),
  disconnected: ofSubject('disconnected an account'),
  'caller-refused': alone('A caller was refused'),
  'on-behalf-of': ofSubject('asked on behalf of a person'),
  erased: alone('Personal data was erased'),
};

/** Tells a row of the log in words; of an event that is not known, its name. */
export function rowWords({
  event,
  detail,
  body,
  subject,
}: Pick<LogRow, 'event' | 'detail' | 'body' | 'subject'>): RowWords {
  if (!isAuditEvent(event)) return { words: event };
  const parsed = tryParseJson(body);
  return EVENTS[event]({ parts: detail.split(' '), body: isJsonObject(parsed) ? parsed : {}, subject });
}

/** Returns the title of the request that a row begins. */
export function titleInRow({ event, body }: Pick<LogRow, 'event' | 'body'>): string | undefined {
  if (event !== 'asked' && event !== 'unknown') return undefined;
  const parsed = tryParseJson(body);
  return isJsonObject(parsed) ? (textIn(parsed.title) ?? textIn(parsed.tool)) : undefined;
}

/** Lists the ids that a row shows by name. */
export function whoIn(row: Pick<LogRow, 'event' | 'detail' | 'body' | 'subject'>): string[] {
  const { who } = rowWords(row);
  return who === undefined ? [] : [who];
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function capital(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
