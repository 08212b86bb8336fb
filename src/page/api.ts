import { z } from 'zod';
import { type JsonValue, tryParseJson } from '../agent/json.ts';
import { withTimeout } from '../agent/util/abort.ts';
import { publicPemOf, type SigningKey } from '../audit/signing-key.ts';
import { loadList } from '../bot/asks/load-lists.ts';
import { type HttpAnswer, jsonAnswer, refusal } from '../bot/slack/http-answer.ts';
import { type MessageLinks, parseThreadId } from '../bot/slack/thread.ts';
import { STATE_WORD } from '../bot/views/texts/cards.ts';
import { showLine } from '../bot/views/texts/show-text.ts';
import { readDetails } from '../engine/request-details.ts';
import { manifestIn } from '../store/documents/manifest.ts';
import { type RequestRecord, threadOf } from '../store/port/store.ts';
import { POLICY_CHANGE_TOOL } from '../tools/toolbox/policy-change.ts';
import type { Toolbox } from '../tools/toolbox/toolbox.ts';
import { figuresOf } from './figures.ts';
import { distinctNames, idsIn } from './names.ts';
import {
  changeName,
  dropPasskey,
  listPasskeys,
  offerPasskey,
  type PasskeyCall,
  type PasskeyContext,
  showApproval,
  takeApproval,
  takePasskey,
} from './passkeys.ts';
import type {
  Explained,
  Figures,
  History,
  ListItem,
  LogPart,
  LogRow,
  ManifestView,
  Me,
  Names,
  RequestView,
  Waiting,
} from './protocol.ts';
import { type RequestEntry, type RequestIndex, searchRequests } from './request-index.ts';
import { idsOf, itemOf, loggedViewOf, viewOf, waitingItemOf } from './request-view.ts';
import { pageTexts } from './texts.ts';
import { maySee, tookPart, type Viewer } from './viewer.ts';

/** A call to be explained. */
export interface ExplainedCall {
  readonly tool: string;
  readonly input: JsonValue;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly channel: string;
}

export interface ApiContext extends PasskeyContext {
  readonly links: MessageLinks;
  readonly toolbox: Pick<Toolbox, 'tools'>;
  readonly index: RequestIndex;
  /** The key that signs the log, if there is one; only its public part leaves the bot. */
  readonly auditKey: Pick<SigningKey, 'publicKeys'> | undefined;
  /** Says in lines what the rules would do with a call now. */
  readonly explain: (call: ExplainedCall) => Promise<readonly string[]>;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
}

interface ApiCall extends PasskeyCall {
  readonly context: ApiContext;
  readonly query: URLSearchParams;
}

interface Route {
  readonly method: 'GET' | 'POST';
  /** Whether only those who see all may use it. */
  readonly isForAuditors?: true;
  readonly answer: (call: ApiCall) => Promise<HttpAnswer>;
}

export const PAGE_SIZE = 50;
/** Rows of the log in one part. */
const LOG_PART = 1_000;
const DAYS = z.coerce.number().int().min(1).max(3650);

const ROUTES: Readonly<Record<string, Route>> = {
  me: { method: 'GET', answer: showViewer },
  names: { method: 'GET', isForAuditors: true, answer: showNames },
  waiting: { method: 'GET', answer: listWaiting },
  history: { method: 'GET', answer: listHistory },
  requests: { method: 'GET', answer: showRequest },
  log: { method: 'GET', isForAuditors: true, answer: showLog },
  figures: { method: 'GET', isForAuditors: true, answer: showFigures },
  manifest: { method: 'GET', isForAuditors: true, answer: showManifest },
  explain: { method: 'POST', isForAuditors: true, answer: explainCall },
  passkeys: { method: 'GET', answer: listPasskeys },
  'passkey-options': { method: 'POST', answer: offerPasskey },
  'passkey-add': { method: 'POST', answer: takePasskey },
  'passkey-rename': { method: 'POST', answer: changeName },
  'passkey-remove': { method: 'POST', answer: dropPasskey },
  approval: {
    method: 'GET',
    answer: (call) => showApproval(call, (request) => wholeView(call.context, request)),
  },
  approve: { method: 'POST', answer: takeApproval },
};

interface ApiRequest {
  /** What follows `/page/api/`. */
  readonly path: string;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly body: () => Promise<Buffer | 'too-long'>;
  readonly freshAt: number;
}

/** Answers a signed-in person's call of the page's own interface. Only their passkeys, and what those sign, change anything. */
export async function answerApi(
  context: ApiContext,
  viewer: Viewer,
  { path, method, query, body, freshAt }: ApiRequest,
): Promise<HttpAnswer> {
  const [name = '', ...rest] = path.split('/');
  const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
  if (route === undefined) return NOT_FOUND;
  if (route.method !== method) return refusal(405, `Use ${route.method}.`, { allow: route.method });
  if (route.isForAuditors === true && !viewer.seesAll) return refusal(403, pageTexts.onlyAuditors);
  const given = method === 'POST' ? await body() : Buffer.alloc(0);
  if (given === 'too-long') return refusal(413, 'The body is longer than 1 MB.', { connection: 'close' });
  const text = given.toString('utf8');
  return route.answer({ context, viewer, query, rest: decode(rest.join('/')), body: text, freshAt });
}

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
    until: timeIn(query.get('until'), DAY_MS),
  };
  const found = searchRequests(all, search, (id) => known.names[id] ?? id);
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = Math.min(pages, Math.max(1, Math.floor(Number(query.get('page') ?? 1)) || 1));
  const items = found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE).map(itemOf);
  const { names } = await namesOf(context, items.flatMap(peopleIn));
  return { items, names, total: found.length, page, pages, unnamed: known.missing, states: STATES };
}

const STATES = Object.entries(STATE_WORD).map(([state, word]) => ({ state, word }));
const DAY_MS = 86_400_000;

/** Lists people, those of the newest requests first. */
function newestPeople(entries: readonly RequestEntry[]): string[] {
  const people = new Set<string>();
  for (const { requesters, votes } of entries.toReversed()) {
    for (const id of requesters) people.add(id);
    for (const { who } of votes) people.add(who);
  }
  return [...people];
}

/** Reads a date such as 2026-11-16; `plus` is added to it, so that the last day counts whole. */
function timeIn(text: string | null, plus = 0): number | undefined {
  const time = text === null || text === '' ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time + plus;
}

async function showRequest({ context, viewer, rest: id }: ApiCall): Promise<HttpAnswer> {
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

function idsOfRow({ detail }: Pick<LogRow, 'detail'>): string[] {
  return idsIn(detail);
}

function peopleIn({ requesters, deciders }: ListItem): string[] {
  return [...requesters, ...deciders];
}

/** Explains the call of a request by the rules of now; a call that no rule is about has none. */
async function rulesFor({ explain }: ApiContext, request: RequestRecord): Promise<readonly string[]> {
  const details = readDetails(request);
  if (details === undefined || request.kind !== 'approval') return [];
  const { name: tool, input } = details.interrupt.toolRequest;
  return explain({
    ...{ tool, input: toValue(input), requesters: request.requesters },
    contextAuthors: details.contextAuthors ?? [],
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
  const { channel, threadTs } = parseThreadId(threadId);
  const posted = views
    .map(({ postedAt }) => Posted.safeParse(postedAt).data)
    .find((at) => at?.channel === channel);
  if (posted === undefined) return undefined;
  const link = await links.linkTo({ channel, ts: posted.ts, threadTs }).catch(() => undefined);
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
    ...{ base, head, rows, next },
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

async function showManifest({ context }: ApiCall): Promise<HttpAnswer> {
  const { store, toolbox, index, redact } = context;
  const recorded = await manifestIn(store).readManifest();
  const changes = (await index.all()).filter(
    ({ tool, state }) => tool === POLICY_CHANGE_TOOL && state === 'succeeded',
  );
  const last = recorded?.isGoverned === true ? changes.at(-1) : undefined;
  const by =
    last === undefined
      ? []
      : last.votes.flatMap(({ who, decision }) => (decision === 'approve' ? [who] : []));
  return jsonAnswer(200, {
    digest: recorded?.digest ?? '',
    text: pretty(redact(recorded?.text ?? '')),
    isGoverned: recorded?.isGoverned === true,
    ...(last !== undefined && { approval: { id: last.id, title: showLine(last.title), by } }),
    tools: toolbox
      .tools()
      .map(({ name }) => name)
      .sort(),
    names: (await namesOf(context, by)).names,
  } satisfies ManifestView);
}

/** The recorded text is one line of JSON. */
function pretty(text: string): string {
  const value = tryParseJson(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

const Question = z.object({
  tool: z.string().max(200),
  arguments: z.string().max(100_000),
  as: z.string().max(100),
  channel: z.string().max(100).default(''),
});

async function explainCall({ context, body }: ApiCall): Promise<HttpAnswer> {
  const { data } = Question.safeParse(tryParseJson(body));
  const input = data && tryParseJson(data.arguments);
  if (data === undefined || input === undefined) return refusal(400, pageTexts.notJson);
  const { tool, as, channel } = data;
  const lines = await context.explain({
    tool,
    input: toValue(input),
    requesters: [as],
    contextAuthors: [],
    channel,
  });
  const { names } = await namesOf(context, lines.flatMap(idsIn));
  return jsonAnswer(200, { lines, names } satisfies Explained);
}

/** A view waits no longer than this for names; a look-up goes on beside it, so that the next view has them. */
const NAMES_MS = 500;
/** The most names that one view looks up. */
const MOST_NAMES = 500;

/** Looks names up, once each; an id without one stays an id. `missing` counts those that Slack did not tell in time. */
async function namesOf(
  { directory }: Pick<ApiContext, 'directory'>,
  ids: readonly string[],
): Promise<{ readonly names: Names; readonly missing: number }> {
  const relaxed = directory.relaxed();
  const distinct = [...new Set(ids)];
  const wanted = distinct.slice(0, MOST_NAMES);
  let missing = distinct.length - wanted.length;
  const found = await Promise.all(
    wanted.map(async (id) => {
      const told = await withTimeout(
        relaxed.nameOf(id).then(
          (name) => ({ name }),
          () => undefined,
        ),
        NAMES_MS,
      );
      if (told === undefined) missing += 1;
      return told?.name === undefined ? [] : [[id, showLine(told.name)] as const];
    }),
  );
  return { names: distinctNames(found.flat()), missing };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
