import { ErrorCode, WebClient } from '@slack/web-api';
import { pino } from 'pino';
import type { Model } from '../../src/agent/model.ts';
import { openAccounts, openConnections } from '../../src/bot/connections/connect-flow.ts';
import { type BotContext, timingFor } from '../../src/bot/context.ts';
import { CallbackUrls } from '../../src/bot/slack/callback-urls.ts';
import { Directory } from '../../src/bot/slack/directory.ts';
import { FileHost } from '../../src/bot/slack/file-host.ts';
import { MessageLinks } from '../../src/bot/slack/thread.ts';
import { ThreadReader } from '../../src/bot/slack/thread-reader.ts';
import { UpdateBudget } from '../../src/bot/slack/update-budget.ts';
import { ThreadStatus } from '../../src/bot/thread-status.ts';
import { grantFinder } from '../../src/engine/asks/grants.ts';
import { PendingLimiter } from '../../src/engine/pending-limiter.ts';
import { RunningTurns } from '../../src/engine/running-turns.ts';
import { Metrics } from '../../src/observe/metrics.ts';
import type { Store } from '../../src/store/port/store.ts';
import type { Manifest } from '../../src/tools/manifest/manifest.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../src/tools/manifest/problem.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { type OpenToolbox, openToolbox } from '../../src/tools/toolbox/open-toolbox.ts';
import type { AroundRun } from '../../src/tools/toolbox/toolbox.ts';
import { emailOf, type Standing } from './compositions.ts';

export const OWN_TEAM = 'T0OWN00001';
export const OTHER_TEAM = 'T0OTHER002';

/** The people of a Slack as they are now. */
export interface People {
  readonly standing: Readonly<Record<string, Standing>>;
  readonly members: Readonly<Record<string, readonly string[]>>;
}

/** Answers in the process what the bot asks Slack about people, and takes everything else. */
class QuietSlack extends WebClient {
  #people: People | undefined;

  static of(people: People): QuietSlack {
    const slack = new QuietSlack();
    slack.#people = people;
    return slack;
  }

  override async apiCall(method: string, options: Readonly<Record<string, unknown>> = {}) {
    const { standing = {}, members = {} } = this.#people ?? {};
    const person = (id: string) => ({
      ...{
        id,
        name: id,
        team_id: standing[id] === 'foreign' ? OTHER_TEAM : OWN_TEAM,
        deleted: standing[id] === 'gone',
      },
      ...{ is_restricted: standing[id] === 'guest', is_bot: standing[id] === 'bot' },
    });
    switch (method) {
      case 'auth.test':
        return { ok: true, user_id: 'U0BOT00000', team_id: OWN_TEAM };
      case 'users.info':
        return { ok: true, user: person(String(options.user)) };
      case 'users.lookupByEmail': {
        const id = Object.keys(standing).find((each) => emailOf(each) === options.email);
        if (id !== undefined) return { ok: true, user: person(id) };
        throw Object.assign(new Error(method), {
          code: ErrorCode.PlatformError,
          data: { error: 'users_not_found' },
        });
      }
      case 'usergroups.users.list':
        return { ok: true, users: members[String(options.usergroup)] ?? [] };
      default:
        return { ok: true };
    }
  }
}

/** A bot whose manifest the caller can replace, and whose toolbox it closes. */
export type QuietBot = BotContext & { readonly toolbox: OpenToolbox };

const logger = pino({ level: 'silent' });
const metrics = new Metrics();

/** Reads a manifest; `undefined` if it is refused because one of its conditions can never be true. */
export function readRules(text: string): Manifest | undefined {
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: { PAGE_SECRET: 'hidden' } });
  if (parsed.ok) return parsed.manifest;
  if (parsed.problems.every(({ message }) => /can never be/.test(message))) return undefined;
  throw new Error(parsed.problems.map(formatProblem).join('\n'));
}

/** Reads a manifest that has no mistakes. */
export function readManifest(text: string): Manifest {
  const manifest = readRules(text);
  if (manifest === undefined) throw new Error('A condition of the manifest can never be true');
  return manifest;
}

/** Opens the whole bot on a record, with a Slack and a model in the process; nothing wakes it, so the caller does. */
export async function startQuietBot(setup: {
  readonly store: Store;
  readonly manifest: Manifest;
  readonly people: People;
  readonly model: Model;
  readonly around: AroundRun;
  readonly timing?: Partial<BotContext['timing']>;
}): Promise<QuietBot> {
  const { store, manifest, model, around } = setup;
  const secrets = new Secrets();
  const client = QuietSlack.of(setup.people);
  const directory = new Directory(client);
  const toolbox = await openToolbox(manifest, {
    ...{ folder: '.', secrets, log: logger, around },
    lock: { text: undefined },
    readTotals: (limits) => store.readTotals(limits),
    findGrant: grantFinder({ store, directory }),
  });
  const stored = { store, sealer: undefined, publicUrl: 'http://localhost', secrets, logger };
  const agent = { ...manifest.agent, instructions: 'Help.', contextBudget: undefined };
  const context: BotContext = {
    ...{ model, toolbox, store, client, metrics, logger },
    modelFor: () => ({ model, contextBudget: undefined }),
    agent: () => agent,
    directory,
    links: new MessageLinks(client),
    ...{ pageLink: () => undefined, passkeyLink: () => undefined },
    threads: new ThreadReader(client),
    fileHost: new FileHost({ client, botToken: '', apiUrl: undefined, fetch, logger }),
    limiter: new PendingLimiter(store),
    callbacks: new CallbackUrls('http://localhost', 'a secret that is long enough for every callback'),
    accounts: openAccounts(openConnections(stored), { ...stored, findServer: () => undefined }),
    turns: new RunningTurns(),
    status: new ThreadStatus(client, logger),
    updates: new UpdateBudget({ add: async () => ({ updates: 0, progress: 0 }) }, logger),
    timing: { ...timingFor(30), ...setup.timing },
  };
  return { ...context, toolbox };
}
