import { z } from 'zod';
import { callSlack } from '../shared/call-slack.ts';
import { Failure } from '../shared/command.ts';

/** A person or a user group, with the name to show beside its id. */
export interface FoundPrincipal {
  readonly id: string;
  readonly name: string;
}

interface Candidate extends FoundPrincipal {
  /** Everything it may be called, in lower case. */
  readonly names: readonly string[];
}

const Text = z.string().optional();
const Member = z.object({
  id: z.string(),
  name: z.string(),
  real_name: Text,
  deleted: z.boolean().optional(),
  is_bot: z.boolean().optional(),
  profile: z.object({ display_name: Text, email: Text }).optional(),
});
const Members = z.object({
  members: z.array(Member),
  response_metadata: z.object({ next_cursor: z.string() }).partial().optional(),
});
const Groups = z.object({
  usergroups: z.array(z.object({ id: z.string(), handle: z.string(), name: z.string() })),
});
const ByEmail = z.object({ user: Member });

const MAX_NAMED = 5;

/** Finds people and user groups by id, name, handle or e-mail address. It reads the workspace once, when it is first asked. */
export class PrincipalFinder {
  readonly #token: string;
  readonly #environment: NodeJS.ProcessEnv;
  #candidates: Promise<readonly Candidate[]> | undefined;

  constructor(token: string, environment: NodeJS.ProcessEnv) {
    this.#token = token;
    this.#environment = environment;
  }

  /** Finds everyone of a list separated by commas; a name that nobody or several have is a `Failure`. */
  async findAll(list: string): Promise<FoundPrincipal[]> {
    const wanted = list
      .split(',')
      .map((text) => text.trim())
      .filter((text) => text !== '');
    if (wanted.length === 0) throw new Failure('name at least one person or user group');
    const found: FoundPrincipal[] = [];
    for (const text of wanted) found.push(await this.#find(text));
    return found.filter(({ id }, index) => found.findIndex((other) => other.id === id) === index);
  }

  /** Tells whether the workspace has user groups, which need a paid plan. */
  async hasPaidPlan(): Promise<boolean> {
    const { error } = await this.#call('usergroups.list', {});
    return error !== 'paid_teams_only';
  }

  async #find(text: string): Promise<FoundPrincipal> {
    this.#candidates ??= this.#readWorkspace();
    const candidates = await this.#candidates;
    const wanted = text.replace(/^@/, '').toLowerCase();
    const exact = candidates.filter(({ names }) => names.includes(wanted));
    const fitting =
      exact.length > 0
        ? exact
        : candidates.filter(({ names }) => names.some((name) => name.includes(wanted)));
    const [only] = fitting;
    if (only !== undefined && fitting.length === 1) return { id: only.id, name: only.name };
    if (only !== undefined) {
      const named = fitting.slice(0, MAX_NAMED).map(({ id, name }) => `${name} (${id})`);
      throw new Failure(`"${text}" can be ${named.join(', ')}; give the id`);
    }
    return /@.+\./.test(text) ? this.#findByEmail(text) : notFound(text);
  }

  async #findByEmail(email: string): Promise<FoundPrincipal> {
    const { ok, error, body } = await this.#call('users.lookupByEmail', { email });
    if (ok) return toCandidate(ByEmail.parse(body).user);
    if (error === 'missing_scope')
      throw new Failure(
        `Slack does not show e-mail addresses to this app: give the name of ${email}, or add the scope users:read.email`,
      );
    return notFound(email);
  }

  async #readWorkspace(): Promise<readonly Candidate[]> {
    const people: z.infer<typeof Member>[] = [];
    let cursor = '';
    do {
      const { ok, error, body } = await this.#call('users.list', { limit: '200', cursor });
      if (!ok) throw new Failure(`Slack does not list the people of the workspace (${error})`);
      const { members, response_metadata: more } = Members.parse(body);
      people.push(...members);
      cursor = more?.next_cursor ?? '';
    } while (cursor !== '');
    const { body } = await this.#call('usergroups.list', {});
    // A workspace without the paid plan has no user groups, and Slack refuses to list them.
    const groups = Groups.safeParse(body).data?.usergroups ?? [];
    return [
      ...people.filter(({ deleted, is_bot: isBot }) => deleted !== true && isBot !== true).map(toCandidate),
      ...groups.map(({ id, handle, name }) => ({ id, name: `@${handle}`, names: lower([id, handle, name]) })),
    ];
  }

  #call(method: string, args: Readonly<Record<string, string>>) {
    return callSlack(method, this.#token, args, this.#environment);
  }
}

function toCandidate({ id, name, real_name: realName, profile }: z.infer<typeof Member>): Candidate {
  const names = lower([id, name, realName, profile?.display_name, profile?.email]);
  return { id, name: realName ?? name, names };
}

function lower(names: readonly (string | undefined)[]): string[] {
  return names.flatMap((name) => (name === undefined || name === '' ? [] : [name.toLowerCase()]));
}

function notFound(text: string): never {
  throw new Failure(`there is nobody called "${text}" in the workspace, and no user group`);
}
