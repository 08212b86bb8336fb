import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, LogLevel } from '@slack/bolt';
import { onTestFinished } from 'vitest';
import {
  type PageServer,
  type PageServerOptions,
  startPageServer,
} from '../../../playground/page-server/start-page-server.ts';
import type {
  ActionName,
  ActionResult,
  Actions,
  Change,
  Entity,
  JobProcess,
  PlaygroundEntity,
} from '../../../playground/protocol.ts';
import type { ThreadRecord } from '../../../playground/record-protocol.ts';
import type { LocalSlack, LocalSlackOptions } from '../../../playground/slack/start-local-slack.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { slackForTest } from '../slack/support.ts';

/** The parts that are not Slack, for tests. */
export class PlaygroundForTest {
  bot: PlaygroundEntity['bot'] = { state: 'connected', kills: 0 };
  job: JobProcess = { state: 'idle', commandLine: 'countersign ask', output: '' };
  readonly #listeners: (() => void)[] = [];

  entity(): PlaygroundEntity {
    const model = { isScripted: true, name: 'scripted' };
    return { key: 'playground', kind: 'playground', bot: this.bot, model, tour: [], job: this.job };
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async kill(): Promise<void> {
    this.bot = { state: 'down', kills: this.bot.kills + 1 };
    for (const listener of this.#listeners) listener();
  }

  startJob(): void {
    this.job = { ...this.job, state: 'running' };
    for (const listener of this.#listeners) listener();
  }

  interruptJob(): void {
    this.job = { ...this.job, state: 'ended', exitCode: 82 };
    for (const listener of this.#listeners) listener();
  }
}

/** A page server on a workspace, both stopped when the test ends. */
export async function pageForTest(
  given: { slack?: LocalSlackOptions; page?: Partial<PageServerOptions> } = {},
) {
  const slack = await slackForTest(given.slack);
  const playground = new PlaygroundForTest();
  const records = new Map<string, ThreadRecord>();
  const server = await startPageServer({
    slack,
    files: await folderForTest({ 'index.html': '<!doctype html>' }),
    port: 0,
    about: {},
    playground,
    record: { read: async (threadId) => records.get(threadId) },
    ...given.page,
  });
  onTestFinished(server.stop);
  return { slack, workspace: slack.workspace, state: slack.workspace.state, server, playground, records };
}

/** A folder with these files, removed when the test ends. */
export async function folderForTest(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'page-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}

/** Performs an action as a person through the page's HTTP interface. */
export async function act<V extends ActionName>(
  server: PageServer,
  userId: string,
  verb: V,
  body: Actions[V],
): Promise<ActionResult> {
  const response = await post(server, `/client/${userId}/${verb}`, JSON.stringify(body));
  return JSON.parse(await response.text());
}

/** Posts a body with a JSON content type. */
export async function post(server: PageServer, path: string, body: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return await fetch(server.url + path, { method: 'POST', headers, body });
}

/** A client that keeps all it was sent, and what it shows after all of it. */
export class ClientForTest {
  readonly changes: Change[] = [];
  readonly shown = new Map<string, Entity>();
  /** Every byte that came, to look for what must not be among them. */
  raw = '';
  #waiting: (() => void)[] = [];

  static async open(server: PageServer, userId: string): Promise<ClientForTest> {
    const closing = new AbortController();
    const response = await fetch(`${server.url}/client/${userId}/events`, { signal: closing.signal });
    onTestFinished(() => closing.abort());
    const client = new ClientForTest();
    void client.#follow(response);
    await client.until(() => client.changes.length > 0);
    return client;
  }

  get<K extends Entity['kind']>(kind: K): Extract<Entity, { kind: K }>[] {
    const isOfKind = (entity: Entity): entity is Extract<Entity, { kind: K }> => entity.kind === kind;
    return [...this.shown.values()].filter(isOfKind);
  }

  /** The texts of the messages it shows, in the order of their times. */
  texts(): string[] {
    const messages = this.get('message').toSorted((a, b) => (a.ts < b.ts ? -1 : 1));
    return messages.map(({ text }) => text);
  }

  /** Waits until the predicate holds; it is asked again after every change. */
  async until(predicate: () => boolean): Promise<void> {
    const timer = setTimeout(() => this.#wake(), PATIENCE_MS);
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (!predicate()) {
      if (Date.now() >= giveUpAt)
        throw new Error(`The client never showed: ${predicate}\n${JSON.stringify([...this.shown.values()])}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    clearTimeout(timer);
  }

  async #follow(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const part of response.body ?? []) {
        const text = decoder.decode(part, { stream: true });
        this.raw += text;
        const events = (rest + text).split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) this.#take(event);
        this.#wake();
      }
    } catch {
      // The test is over.
    }
  }

  #take(event: string): void {
    const data = /^event: change\ndata: (.*)$/.exec(event)?.[1];
    if (data === undefined) return;
    const change: Change = JSON.parse(data);
    this.changes.push(change);
    if (change.fresh) this.shown.clear();
    for (const entity of change.set) this.shown.set(entity.key, entity);
    for (const key of change.gone) this.shown.delete(key);
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** A Bolt app over Socket Mode, stopped when the test ends. */
export async function appForTest(slack: LocalSlack, listen: (app: App) => void): Promise<void> {
  const app = new App({
    token: slack.botToken,
    appToken: slack.appToken,
    socketMode: true,
    logLevel: LogLevel.ERROR,
    clientOptions: { slackApiUrl: slack.apiUrl },
  });
  listen(app);
  await app.start();
  onTestFinished(async () => {
    await app.stop();
  });
}
