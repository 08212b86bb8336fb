import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import type { ChatRequest } from '../playground/model/chat-request.ts';
import type { ModelReply } from '../playground/model/model-reply.ts';
import { CAST, CHANNELS } from '../playground/slack/default-cast.ts';
import type { Workspace } from '../playground/slack/workspace.ts';
import { clickCard } from '../test/support/click-card.ts';
import { startWholeBot } from './whole-bot.ts';

/** Everything that the bot has told others in a day of work. */
export interface PlayedDay {
  /** The requests to the endpoint of the audit log. */
  readonly posted: readonly { readonly headers: Readonly<Record<string, string>>; readonly body: string }[];
  readonly spans: readonly ReadableSpan[];
  /** The page of `/metrics`. */
  readonly metrics: string;
}

/** Requests of people, each with the decision of an approver. */
const TASKS = ['approve', 'reject', 'withdraw', 'free', 'fail', 'answer'] as const;
type Task = (typeof TASKS)[number];

let played: Promise<PlayedDay> | undefined;

/** Plays a day once: calls that are approved, rejected, withdrawn, free and failing, and a plain answer. */
export function playDay(): Promise<PlayedDay> {
  played ??= play();
  return played;
}

async function play(): Promise<PlayedDay> {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  const posted: { readonly headers: Record<string, string>; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
    if (request.url === '/audit') posted.push({ headers: Object.fromEntries(headers), body });
    response.writeHead(request.url === '/fail' ? 400 : 200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const whole = await startWholeBot({ mode: 'socket', manifest: manifestFor(url), replies: replyTo });
  try {
    for (const task of TASKS) await playTask(whole.workspace, task);
    const served = await fetch(`http://127.0.0.1:${whole.bot.port}/metrics`);
    const metrics = await served.text();
    // Stopping sends what is left of the audit log.
    await whole.stop();
    return { posted, spans: exporter.getFinishedSpans(), metrics };
  } finally {
    await provider.shutdown();
    server.closeAllConnections();
    server.close();
  }
}

function manifestFor(url: string): object {
  const http = (path: string) => ({ method: 'POST', url: `${url}${path}`, allow_private: ['127.0.0.1'] });
  return {
    slack: { display_information: { name: 'Countersign' } },
    agent: { instructions: 'Help.' },
    policies: { default: { approvers: [CAST.alice], notify: { direct_messages: false } } },
    audit: { http: { url: `${url}/audit` } },
    tools: {
      order: { description: 'Orders.', http: http('/order') },
      fail: { description: 'Fails.', http: http('/fail') },
      free: { description: 'Reads.', http: http('/free'), approval: 'never' },
    },
  };
}

function replyTo({ messages }: ChatRequest): ModelReply {
  const [, task = ''] =
    /task (\w+)/.exec(String(messages.find(({ role }) => role === 'user')?.content)) ?? [];
  const isDone = messages.some(({ role }) => role === 'tool');
  if (isDone || task === 'answer') return { text: 'All done.' };
  const name = task === 'free' || task === 'fail' ? task : 'order';
  return { calls: [{ name, arguments: {} }] };
}

async function playTask(workspace: Workspace, task: Task): Promise<void> {
  const mention = `<@${workspace.state.app.botUserId}> task ${task}`;
  const { ts } = workspace.as(CAST.requester).send(CHANNELS.general, mention);
  const messages = () => workspace.messagesIn(CHANNELS.general, ts);
  if (task !== 'free' && task !== 'answer') {
    const card = await workspace.until(
      () => messages().find(({ blocks }) => JSON.stringify(blocks).includes('"approve"')),
      { what: `the card of ${task}` },
    );
    const action = task === 'fail' ? 'approve' : task;
    await clickCard(workspace, action === 'withdraw' ? CAST.requester : CAST.alice, card, action);
    if (task === 'reject') await submitReason(workspace);
  }
  await workspace.until(() => messages().some((message) => message.text.includes('All done.')), {
    what: `the end of ${task}`,
  });
}

/** A rejection asks for its reason in a modal. */
async function submitReason(workspace: Workspace): Promise<void> {
  const modal = await workspace.until(() => workspace.modalOf(CAST.alice), {
    what: 'the modal of a rejection',
  });
  await workspace.as(CAST.alice).submit(modal.id, { reason: 'Not today.' });
}
