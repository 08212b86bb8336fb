import type { Session } from 'node:inspector/promises';

/*
 * Loaded into every bot of the bench before its own code. It answers questions about the process, and ends it together with
 * the bench. It imports what it needs for an answer when it is asked, so that it adds nothing to the bot's start.
 */
let profiling: Session | undefined;

const ANSWERS: Readonly<Record<string, () => Promise<object>>> = {
  async heap() {
    globalThis.gc?.();
    return { heapBytes: process.memoryUsage().heapUsed };
  },
  async 'start profile'() {
    profiling = await connect();
    await profiling.post('Profiler.enable');
    await profiling.post('Profiler.start');
    return {};
  },
  async 'stop profile'() {
    const stopped = await profiling?.post('Profiler.stop');
    profiling?.disconnect();
    return stopped?.profile ?? {};
  },
  async holdings() {
    globalThis.gc?.();
    const { getHeapStatistics } = await import('node:v8');
    const [heap, { external }] = [getHeapStatistics(), process.memoryUsage()];
    const session = await connect();
    const scripts: string[] = [];
    session.on('Debugger.scriptParsed', ({ params }) => scripts.push(params.url));
    // It names every script that there is already.
    await session.post('Debugger.enable');
    session.disconnect();
    return { heap, external, scripts };
  },
};

async function connect(): Promise<Session> {
  const { Session: Inspector } = await import('node:inspector/promises');
  const session = new Inspector();
  session.connect();
  return session;
}

process.on('message', async (question) => process.send?.(await ANSWERS[String(question)]?.()));
process.on('disconnect', () => process.exit(0));
