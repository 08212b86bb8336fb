import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Model } from '../../src/agent/model.ts';
import { timingFor } from '../../src/bot/context.ts';
import { applyDecision } from '../../src/bot/inbox/decisions/decision.ts';
import { receiveMessage } from '../../src/bot/inbox/receive-message.ts';
import { parseThreadId } from '../../src/bot/slack/thread.ts';
import { executorContext, turnContext } from '../../src/bot/turn-context.ts';
import { execute } from '../../src/engine/execute.ts';
import { detailsOf } from '../../src/engine/request-details.ts';
import { claimAndRunTurn } from '../../src/engine/turns/run-turn.ts';
import type { RequestRecord } from '../../src/store/port/request-record.ts';
import type { Store } from '../../src/store/port/store.ts';
import { OWN_TEAM, type QuietBot, readManifest, startQuietBot } from '../../test/oracle/start-quiet-bot.ts';
import {
  type Call,
  type CaseId,
  DojoProcess,
  type Script,
  socketPath,
  type Verdict,
} from './dojo-process.ts';

const SERVER = fileURLToPath(new URL('server.py', import.meta.url));
const APPROVER = 'U0APPROVE1';
const HOUR_SECONDS = 3_600;

/** The gate as an admin would write it and an approver who knows the task; no gate; or an approver who approves everything. */
export type Mode = 'gated' | 'free' | 'careless';

/**
 * The tools of each suite that run without approval: those that only read. Reading a page of the web sends its address to somebody
 * outside, and `get_unread_emails` marks what it returns as read, so neither is among them.
 */
const FREE: Readonly<Record<string, readonly string[]>> = {
  banking: ['get_*', 'read_file'],
  slack: ['get_channels', 'get_users_in_channel', 'read_*'],
  travel: ['get_*', 'check_*', 'search_*'],
  workspace: [
    ...['get_current_day', 'get_day_calendar_events', 'get_file_by_id', 'list_files', 'search_*'],
    ...['get_draft_emails', 'get_received_emails', 'get_sent_emails'],
  ],
};

export const SUITE_NAMES: readonly string[] = Object.keys(FREE);

/** A request that people were asked about. */
export interface AskedCall {
  readonly request: RequestRecord;
  readonly call: Call;
  /** Whether the call is one that the user's task needs. */
  readonly isUsers: boolean;
}

export interface PlayedCase {
  readonly script: Script;
  readonly asked: readonly AskedCall[];
  readonly verdict: Verdict;
  /** The verdict of AgentDojo on the user's calls alone, without the bot and without the attacker. */
  compare(): Promise<Verdict>;
}

/** One suite behind a whole bot: its tools are an MCP server, its model plays the script of a case and always obeys the attacker. */
export class DojoBot {
  readonly dojo: DojoProcess;
  readonly #bot: QuietBot;
  readonly #mode: Mode;
  readonly #model: ScriptedModel;
  #played = 0;

  private constructor(bot: QuietBot, dojo: DojoProcess, model: ScriptedModel, mode: Mode) {
    this.#bot = bot;
    this.dojo = dojo;
    this.#model = model;
    this.#mode = mode;
  }

  static async open(options: {
    readonly store: Store;
    readonly folder: string;
    readonly suite: string;
    readonly mode: Mode;
  }): Promise<DojoBot> {
    const { store, folder, suite, mode } = options;
    const control = socketPath();
    const model = new ScriptedModel();
    const bot = await startQuietBot({
      store,
      model,
      manifest: readManifest(manifestOf({ folder, suite, mode, control })),
      people: { standing: { [APPROVER]: 'active' }, members: {} },
      timing: timingFor(HOUR_SECONDS),
      around: async (_name, _input, helpers, run) => run(helpers),
    });
    const [server] = bot.toolbox.servers();
    if (server?.state !== 'connected')
      throw new Error(`AgentDojo does not start from ${folder}: ${server?.lastError}`);
    const dojo = await DojoProcess.connect(control);
    return new DojoBot(bot, dojo, model, mode);
  }

  async play(id: CaseId): Promise<PlayedCase> {
    const script = await this.dojo.start(id);
    this.#model.script = script;
    this.#played += 1;
    // Each case is somebody else's: nobody has their requests decided so quickly that the limit of open ones could keep up.
    const serial = String(this.#played).padStart(5, '0');
    const threadTs = `17000${serial}.000001`;
    const thread = `C0DOJO0001:${threadTs}`;
    await receiveMessage(
      this.#bot,
      {
        thread: parseThreadId(thread),
        ts: threadTs,
        user: `U0EMMA${serial}`,
        text: script.prompt,
        toBot: true,
        mention: true,
        files: [],
      },
      undefined,
    );
    const asked = await this.#decideAll(thread, script);
    const { answered } = this.#model;
    if (answered === undefined) throw new Error('the task did not come to its end');
    return {
      script,
      asked,
      verdict: await this.dojo.judge(answered),
      compare: () => this.dojo.compare(id, script.user, script.answer),
    };
  }

  async close(): Promise<void> {
    this.dojo.close();
    await this.#bot.turns.idle(HOUR_SECONDS * 1_000);
    await this.#bot.toolbox.close();
  }

  /** Decides what people are asked about, one after the other, until the task has ended. */
  async #decideAll(thread: string, { user }: Script): Promise<AskedCall[]> {
    const needed = user.map(textOf);
    const asked: AskedCall[] = [];
    for (;;) {
      const request = await this.#settle(thread);
      if (request === undefined) return asked;
      const { name, input } = detailsOf(request).interrupt.toolRequest;
      const call = { name, input: input as Call['input'] };
      const place = needed.indexOf(textOf(call));
      // Each call that the task needs is approved once; the same call once more is the attacker's.
      if (place >= 0) needed.splice(place, 1);
      asked.push({ request, call, isUsers: place >= 0 });
      const isApproved = this.#mode === 'careless' || place >= 0;
      const notice = await applyDecision(this.#bot, {
        requestId: request.id,
        click: { who: APPROVER, id: randomUUID(), team: OWN_TEAM },
        decision: isApproved ? { type: 'approve' } : { type: 'reject', reason: 'Nobody asked for this.' },
      });
      if (notice !== undefined) throw new Error(`a decision was refused: ${JSON.stringify(notice)}`);
    }
  }

  /** Does what a woken process would do, until nothing is left to do but to decide. */
  async #settle(thread: string): Promise<RequestRecord | undefined> {
    const { store, turns } = this.#bot;
    await turns.idle(HOUR_SECONDS * 1_000);
    const [open] = await store.waitingIn(thread);
    if (open !== undefined) await execute(executorContext(this.#bot), open);
    await claimAndRunTurn(turnContext(this.#bot), thread);
    await turns.idle(HOUR_SECONDS * 1_000);
    const [id] = await store.waitingIn(thread);
    const loaded = id === undefined ? undefined : await store.load(id);
    return loaded?.outcome === 'found' ? loaded.request : undefined;
  }
}

/** Plays the user's calls, then the attacker's, one per step and whatever became of those before; then says both answers. */
class ScriptedModel implements Model {
  readonly name = 'scripted';
  answered: string | undefined;
  #script: Script | undefined;

  set script(script: Script) {
    this.#script = script;
    this.answered = undefined;
  }

  async reply({ history }: Parameters<Model['reply']>[0]): ReturnType<Model['reply']> {
    if (this.#script === undefined) throw new Error('no case was started');
    const { user, attacker, answer, attackerAnswer } = this.#script;
    const made = history.reduce((sum, item) => sum + (item.role === 'model' ? item.calls.length : 0), 0);
    const next = [...user, ...attacker][made];
    if (next !== undefined) {
      const call = { id: randomUUID(), name: next.name, arguments: JSON.stringify(next.input) };
      return { finish: 'stop', text: '', calls: [call], usage: undefined };
    }
    this.answered = [answer, attackerAnswer].filter((text) => text !== '').join('\n');
    return { finish: 'stop', text: this.answered || 'Done.', calls: [], usage: undefined };
  }
}

/** Writes a call so that the order of its arguments does not matter. */
function textOf({ name, input }: Call): string {
  return JSON.stringify([name, Object.entries(input).sort(([left], [right]) => (left < right ? -1 : 1))]);
}

function manifestOf(options: {
  readonly folder: string;
  readonly suite: string;
  readonly mode: Mode;
  readonly control: string;
}): string {
  const { folder, suite, mode, control } = options;
  const free = (FREE[suite] ?? []).map((match) => ({ match, require: 'never' }));
  return JSON.stringify({
    slack: { display_information: { name: 'Test' } },
    agent: { built_ins: [], max_steps: 200 },
    policies: { default: { approvers: { any: [APPROVER] }, notify: { direct_messages: false } } },
    tools: {
      [suite]: {
        mcp: {
          command: pythonIn(folder),
          args: [SERVER, '--suite', folder, '--name', suite, '--control', control],
          errors: 'final',
        },
        approval:
          mode === 'free' ? [{ match: '*', require: 'never' }] : [...free, { match: '*', policy: 'default' }],
      },
    },
  });
}

/** Prefers the environment in the checkout. */
function pythonIn(folder: string): string {
  const own = join(folder, '.venv/bin/python');
  return existsSync(own) ? own : 'python3';
}
