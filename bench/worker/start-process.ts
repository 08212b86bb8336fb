import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type Ask, type BotOrder, News, type Usage } from './bot-messages.ts';

/** A process of the bench that tells what it uses. */
export interface MeasuredProcess {
  readonly child: ChildProcess;
  usage(options?: { readonly collect: boolean }): Promise<Usage>;
  onEffect(listener: (threadId: string, at: number) => void): void;
  stop(): Promise<void>;
}

/** Starts a compiled file of the bench; it is ready when this resolves, and ends with this process at the latest. */
export async function startProcess(file: string, order: readonly string[]): Promise<MeasuredProcess> {
  const child = fork(file, [...order], { execArgv: ['--expose-gc'] });
  const exited = once(child, 'exit');
  const listeners: ((news: News) => void)[] = [];
  child.on('message', (message) => {
    const news = News.parse(message);
    for (const listener of [...listeners]) listener(news);
  });
  const next = <Kind extends News['kind']>(kind: Kind) =>
    new Promise<Extract<News, { kind: Kind }>>((resolve, reject) => {
      const hear = (news: News) => {
        if (!isOf(news, kind)) return;
        listeners.splice(listeners.indexOf(hear), 1);
        resolve(news);
      };
      listeners.push(hear);
      exited.then(() => reject(new Error('A process of the bench ended before it answered.')), reject);
    });
  await next('ready');
  return {
    child,
    async usage({ collect } = { collect: false }) {
      const told = next('usage');
      const ask: Ask = { kind: 'usage', collect };
      child.send(ask);
      return await told;
    },
    onEffect(listener) {
      listeners.push((news) => {
        if (news.kind === 'effect') listener(news.threadId, news.at);
      });
    },
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Starts the bot against a local Slack. */
export function startBotProcess(file: string, order: BotOrder): Promise<MeasuredProcess> {
  return startProcess(file, [JSON.stringify(order)]);
}

function isOf<Kind extends News['kind']>(news: News, kind: Kind): news is Extract<News, { kind: Kind }> {
  return news.kind === kind;
}
