import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';
import { timeOf } from '../../audit/export-line.ts';
import { showLine } from '../../bot/views/texts/show-text.ts';
import type { AuditRow } from '../../store/port/audit.ts';
import { callSlack } from '../shared/call-slack.ts';

const Body = z
  .looseObject({
    tool: z.string().optional(),
    title: z.string().optional(),
    who: z.string().optional(),
    requester: z.string().optional(),
    requesters: z.array(z.string()).optional(),
    stillEligible: z.array(z.string()).optional(),
  })
  .catch({});
const Member = z.object({
  user: z.object({ real_name: z.string().optional(), name: z.string() }),
});

const Groups = z.object({ usergroups: z.array(z.object({ id: z.string(), handle: z.string() })) });

/** The filters of the list; a row must fit all that are given. */
export interface AuditFilter {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** The name or the title of a tool. */
  readonly tool?: string | undefined;
  /** The id or the name of a person. */
  readonly person?: string | undefined;
  readonly request?: string | undefined;
}

/** A row with the tool of its request and the people in it. */
export interface ReadRow {
  readonly row: AuditRow;
  readonly tool: string | undefined;
  readonly title: string | undefined;
  readonly people: readonly string[];
}

/** Reads rows in order and joins each with the tool that its request was about. */
export class RowReader {
  readonly #tools = new Map<string, { readonly tool: string; readonly title: string }>();

  read(row: AuditRow): ReadRow {
    const {
      tool,
      title,
      who,
      requester,
      requesters = [],
      stillEligible = [],
    } = Body.parse(tryParseJson(row.body));
    if (tool !== undefined) this.#tools.set(row.subject, { tool, title: title ?? tool });
    const known = this.#tools.get(row.subject);
    const named = [who, requester, ...requesters, ...stillEligible].filter((id) => id !== undefined);
    // The rows that end a request name the person only in the detail.
    const inDetail = row.detail.split(' ').filter((word) => PERSON.test(word));
    return { row, tool: known?.tool, title: known?.title, people: [...new Set([...named, ...inDetail])] };
  }
}

const PERSON = /^[UW][A-Z0-9]{6,20}$/;

const GROUP = /^S[A-Z0-9]{6,20}$/;

/** Looks names of people and user groups up in Slack, once each. Without a token, or where Slack does not answer, an id stays an id. */
export class PeopleNames {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #names = new Map<string, Promise<string>>();
  #groups: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment;
  }

  nameOf(id: string): Promise<string> {
    const known = this.#names.get(id) ?? this.#lookUp(id);
    this.#names.set(id, known);
    return known;
  }

  async #lookUp(id: string): Promise<string> {
    const { SLACK_BOT_TOKEN: token = '' } = this.#environment;
    if (token !== '' && GROUP.test(id)) return (await this.#readGroups(token)).get(id) ?? id;
    if (token === '' || !PERSON.test(id)) return id;
    const answer = await callSlack('users.info', token, { user: id }, this.#environment).catch(
      () => undefined,
    );
    const { data } = Member.safeParse(answer?.body);
    return data === undefined ? id : (data.user.real_name ?? data.user.name);
  }

  #readGroups(token: string): Promise<ReadonlyMap<string, string>> {
    this.#groups ??= callSlack('usergroups.list', token, {}, this.#environment).then(
      ({ body }) =>
        new Map((Groups.safeParse(body).data?.usergroups ?? []).map(({ id, handle }) => [id, `@${handle}`])),
      () => new Map(),
    );
    return this.#groups;
  }
}

/** Tells whether a row fits a filter. */
export async function fits(
  { row, tool, title, people }: ReadRow,
  filter: AuditFilter,
  names: PeopleNames,
): Promise<boolean> {
  if (filter.since !== undefined && row.at < filter.since) return false;
  if (filter.until !== undefined && row.at >= filter.until) return false;
  if (filter.request !== undefined && row.subject !== filter.request) return false;
  if (filter.tool !== undefined && !isSame(filter.tool, [tool, title])) return false;
  const { person } = filter;
  if (person === undefined) return true;
  return isSame(person, [...people, ...(await Promise.all(people.map((id) => names.nameOf(id))))]);
}

function isSame(wanted: string, candidates: readonly (string | undefined)[]): boolean {
  return candidates.some((candidate) => candidate?.toLowerCase() === wanted.toLowerCase());
}

/** Writes a row as one line for people: when, what, of which tool, by whom, then the row itself. */
export async function describeRow({ row, title, people }: ReadRow, names: PeopleNames): Promise<string> {
  const { at, event, subject, detail, body } = row;
  const who = await Promise.all(people.map((id) => names.nameOf(id)));
  const parts = [timeOf(at), event, title ?? '', who.join(', '), subject, detail, body];
  return parts
    .filter((part) => part !== '')
    .map(showLine)
    .join('  ');
}
