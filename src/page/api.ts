import { z } from 'zod';
import { type JsonValue, tryParseJson } from '../agent/json.ts';
import { publicPemOf } from '../audit/signing-key.ts';
import { parseThreadId, placeIn } from '../bot/slack/thread.ts';
import { STATE_WORD } from '../bot/views/texts/cards.ts';
import { showLine } from '../bot/views/texts/show-text.ts';
import { loadList } from '../engine/asks/load-lists.ts';
import { readDetails } from '../engine/request-details.ts';
import { type HttpAnswer, jsonAnswer, refusal } from '../http/http-answer.ts';
import { threadOf } from '../store/port/keys.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { ApiCall, ApiContext } from './api-call.ts';
import { figuresOf } from './figures.ts';
import { idsIn } from './names.ts';
import {
  changeName,
  dropPasskey,
  listPasskeys,
  offerPasskey,
  showApproval,
  takeApproval,
  takePasskey,
} from './passkeys.ts';
import { findPerson, namesOf, newestPeople, peopleFor } from './people.ts';
import type {
  Explained,
  Figures,
  History,
  ListItem,
  LogPart,
  LogRow,
  Me,
  Names,
  RequestView,
  Waiting,
} from './protocol.ts';
import { searchRequests } from './request-index.ts';
import { idsOf, itemOf, loggedViewOf, viewOf, waitingItemOf } from './request-view.ts';
import { whoIn } from './row-words.ts';
import { showManifest } from './show-manifest.ts';
import { pageTexts } from './texts.ts';
import { maySee, tookPart, type Viewer } from './viewer.ts';

/** One address of the page's own interface. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST';
  /** Follows `/page/api/`. */
  readonly path: string;
  /** Whether only those who see all may use it. */
  readonly isForAuditors?: true;
  readonly answer: (call: ApiCall) => Promise<HttpAnswer>;
}

export const PAGE_SIZE = 50;
/** Rows of the log in one part. */
const LOG_PART = 1_000;
const DAYS = z.coerce.number().int().min(1).max(3650);

/** The page's own interface, for people who are signed in. Only their passkeys, and what those sign, change anything. */
export const API_ROUTES: readonly ApiRoute[] = [
  { method: 'GET', path: 'me', answer: showViewer },
  { method: 'GET', path: 'names', isForAuditors: true, answer: showNames },
  { method: 'GET', path: 'people', answer: listPeople },
  { method: 'GET', path: 'waiting', answer: listWaiting },
  { method: 'GET', path: 'history', answer: listHistory },
  { method: 'GET', path: 'requests/:id{.+}', answer: showRequest },
  { method: 'GET', path: 'log', isForAuditors: true, answer: showLog },
  { method: 'GET', path: 'figures', isForAuditors: true, answer: showFigures },
  { method: 'GET', path: 'manifest', isForAuditors: true, answer: showManifest },
  { method: 'POST', path: 'explain', isForAuditors: true, answer: explainCall },
  { method: 'GET', path: 'passkeys', answer: listPasskeys },
  { method: 'POST', path: 'passkey-options', answer: offerPasskey },
  { method: 'POST', path: 'passkey-add', answer: takePasskey },
  { method: 'POST', path: 'passkey-rename', answer: changeName },
  { method: 'POST', path: 'passkey-remove', answer: dropPasskey },
  {
    method: 'GET',
    path: 'approval/:id',
    answer: (call) => showApproval(call, (request) => wholeView(call.context, request)),
  },
  { method: 'POST', path: 'approve/:id', answer: takeApproval },
];

const NOT_FOUND = refusal(404, pageTexts.notFound);

async function showViewer({ viewer }: ApiCall): Promise<HttpAnswer> {
  return jsonAnswer(200, { ...viewer, name: showLine(viewer.name) } satisfies Me);
}

/** Names the ids of rows of the log, which come without names so that they are what was hashed. */
async function showNames({ context, query }: ApiCall): Promise<HttpAnswer> {
  return jsonAnswer(200, (await namesOf(context, idsIn(query.get('ids') ?? ''))).names satisfies Names);
}

async function listWaiting({ context, viewer, query }: ApiCall): Promise<HttpAnswer> {
  const from = query.get('from') ?? undefined;
  const { requests, next } = await loadList(context, viewer.who, 'waiting', { from, limit: PAGE_SIZE });
  const items = requests.map(waitingItemOf);
  const { names } = await namesOf(context, items.flatMap(peopleIn));
  return jsonAnswer(200, { items, names, next } satisfies Waiting);
}

async function listHistory({ context, viewer, query }: ApiCall): Promise<HttpAnswer> {
  return jsonAnswer(200, await findHistory(context, viewer, query));
}

/** Finds one page of what a person may look up, newest first. */
export async function findHistory(
  context: Pick<ApiContext, 'index' | 'directory'>,
  viewer: Viewer,
  query: URLSearchParams,
): Promise<History> {
  const indexed = await context.index.all();
  const all = viewer.seesAll ? indexed : indexed.filter((entry) => tookPart(viewer, entry));
  const person = query.get('person') ?? '';
  const known = await namesOf(context, person === '' ? [] : newestPeople(all));
  const search = {
    person,
    text: query.get('text') ?? '',
    tool: query.get('tool') ?? '',
    state: query.get('state') ?? '',
    since: timeIn(query.get('since')),
    until: timeIn(query.get('until')),
  };
  const found = searchRequests(all, search, (id) => known.names[id] ?? id);
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = Math.min(pages, Math.max(1, Math.floor(Number(query.get('page') ?? 1)) || 1));
  const items = found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE).map(itemOf);
  const { names } = await namesOf(context, items.flatMap(peopleIn));
  return { items, names, total: found.length, page, pages, unnamed: known.missing, states: STATES };
}

const STATES = Object.entries(STATE_WORD).map(([state, word]) => ({ state, word }));

/** Reads a time in milliseconds, which a browser makes of a day in its own time zone. */
function timeIn(text: string | null): number | undefined {
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}

async function showRequest({ context, viewer, id }: ApiCall): Promise<HttpAnswer> {
  const { store, index } = context;
  if (threadOf(id) === undefined) return NOT_FOUND;
  const [loaded, entry] = await Promise.all([store.load(id), index.find(id)]);
  const rows = entry === undefined ? [] : await index.rowsOf(entry);
  if (loaded.outcome === 'found') {
    const { request } = loaded;
    if (!(await maySee(context, viewer, request))) return NOT_FOUND;
    return jsonAnswer(200, await wholeView(context, request, rows));
  }
  if (entry === undefined || !tookPart(viewer, entry)) return NOT_FOUND;
  const view = loggedViewOf(entry);
  const { names } = await namesOf(context, [...idsOf(view, []), ...rows.flatMap(idsOfRow)]);
  return jsonAnswer(200, { ...view, rules: [], rows, names } satisfies RequestView);
}

async function wholeView(
  context: ApiContext,
  request: RequestRecord,
  rows: RequestView['rows'] = [],
): Promise<RequestView> {
  const view = viewOf(request);
  const [rules, slackLink] = await Promise.all([rulesFor(context, request), linkOf(context, request)]);
  const { names } = await namesOf(context, [...idsOf(view, rules), ...rows.flatMap(idsOfRow)]);
  return { ...view, rules, rows, names, slackLink };
}

function idsOfRow(row: LogRow): string[] {
  return [...idsIn(row.detail), ...whoIn(row)];
}

function peopleIn({ requesters, channel = '', votes }: ListItem): string[] {
  return [...requesters, channel, ...votes.map(({ who }) => who)];
}

/** Explains the call of a request by the rules of now; a call that no rule is about has none. */
async function rulesFor({ explain }: ApiContext, request: RequestRecord): Promise<readonly string[]> {
  const details = readDetails(request);
  if (details === undefined || request.kind !== 'approval') return [];
  const { name: tool, input } = details.interrupt.toolRequest;
  return explain({
    tool,
    input: toValue(input),
    requesters: request.requesters,
    contextAuthors: details.facets.context ?? [],
    channel: parseThreadId(request.threadId).channel,
  });
}

function toValue(input: unknown): JsonValue {
  return JSON.parse(JSON.stringify(input ?? null));
}

/** Finds the card of a request in Slack. */
async function linkOf(
  { links }: ApiContext,
  { threadId, views }: RequestRecord,
): Promise<string | undefined> {
  const { channel, threadTs } = placeIn(threadId);
  const posted = views
    .map(({ postedAt }) => Posted.safeParse(postedAt).data)
    .find((at) => at?.channel === channel);
  if (posted === undefined) return undefined;
  const link = await links
    .linkTo({ channel, ts: posted.ts, threadTs: threadTs ?? posted.ts })
    .catch(() => undefined);
  return link !== undefined && /^https?:\/\//.test(link) ? link : undefined;
}

const Posted = z.object({ channel: z.string(), ts: z.string() });

async function showLog({ context, query }: ApiCall): Promise<HttpAnswer> {
  const { store, auditKey } = context;
  const after = Math.max(0, Math.floor(Number(query.get('after') ?? 0)) || 0);
  const { base, head } = await store.auditEnds();
  const rows: LogPart['rows'][number][] = [];
  for await (const row of store.exportAudit(after)) {
    rows.push(row);
    if (rows.length === LOG_PART) break;
  }
  const next = rows.length === LOG_PART ? rows.at(-1)?.seq : undefined;
  const checkpoints = [];
  if (after === 0) for await (const checkpoint of store.readCheckpoints()) checkpoints.push(checkpoint);
  return jsonAnswer(200, {
    base,
    head,
    rows,
    next,
    ...(after === 0 && { checkpoints, publicKeys: auditKey === undefined ? '' : publicPemOf(auditKey) }),
  } satisfies LogPart);
}

async function showFigures({ context, query }: ApiCall): Promise<HttpAnswer> {
  const days = DAYS.safeParse(query.get('days') ?? undefined).data;
  const figures = figuresOf(await context.index.all(), { days });
  const { names } = await namesOf(
    context,
    figures.approvers.map(({ who }) => who),
  );
  return jsonAnswer(200, { ...figures, names } satisfies Figures);
}

const Question = z.object({
  tool: z.string().max(200),
  arguments: z.string().max(100_000),
  as: z.string().max(100),
  channel: z.string().max(100).default(''),
});

async function explainCall({ context, viewer, body }: ApiCall): Promise<HttpAnswer> {
  const { data } = Question.safeParse(tryParseJson(body));
  const input = data && tryParseJson(data.arguments);
  if (data === undefined || input === undefined) return refusal(400, pageTexts.notJson);
  const { tool, channel } = data;
  const found = await findPerson({ ...context, viewer }, data.as);
  if ('problem' in found) return refusal(400, found.problem);
  const { who: as } = found;
  const lines = await context.explain({
    tool,
    input: toValue(input),
    requesters: [as],
    contextAuthors: [],
    channel,
  });
  const { names } = await namesOf(context, [as, ...lines.flatMap(idsIn)]);
  return jsonAnswer(200, { as, lines, names } satisfies Explained);
}

/** Lists the people to choose from, by id: of the requests that the person may see, and for who sees all, of the manifest. */
async function listPeople({ context, viewer }: ApiCall): Promise<HttpAnswer> {
  return jsonAnswer(200, (await peopleFor(context, viewer)) satisfies Names);
}
