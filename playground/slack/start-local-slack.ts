import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendJson } from '../send-json.ts';
import { buildState, type WorkspaceSeed } from './build-state.ts';
import { Deliveries } from './delivery/deliveries.ts';
import { eventPayload } from './delivery/event-payload.ts';
import { messageEvents } from './delivery/message-events.ts';
import { serveFile } from './files/serve-file.ts';
import { HttpDelivery } from './http/http-delivery.ts';
import { RequestUrl } from './http/request-url.ts';
import { SLACK_TIMINGS, type Timings } from './limits.ts';
import { type SignInClient, SignInWithSlack } from './openid/sign-in.ts';
import type { SlackContext } from './people/interaction.ts';
import { ResponseUrls } from './people/response-urls.ts';
import { Triggers } from './people/triggers.ts';
import { SocketMode } from './socket-mode/socket-mode.ts';
import { loadState } from './state/load-state.ts';
import type { WorkspaceEvent } from './state/workspace-state.ts';
import { type ApiServing, answerCall } from './web-api/answer-call.ts';
import { Faults } from './web-api/faults.ts';
import { RateLimiter } from './web-api/rate-limiter.ts';
import { parseObject, readBody } from './web-api/read-request.ts';
import { Refusal } from './web-api/refusal.ts';
import { Workspace } from './workspace.ts';

export interface LocalSlackOptions extends WorkspaceSeed {
  /** The saved workspace as read from its file; it replaces the people and channels of the seed. */
  saved?: unknown;
  timings?: Partial<Timings>;
  /** The port; a free one by default. */
  port?: number;
  /** `slack` for Slack's tiers and one message per second and channel; off by default. */
  rateLimits?: 'off' | 'slack';
  /** Number of deliveries of each event with the same id, as Slack may do; 1 by default. */
  eventCopies?: number;
  /** The client of the app's own pages at which people sign in with Slack; nobody signs in without one. */
  signIn?: SignInClient;
}

/** A running workspace and what an app needs to connect to it. */
export interface LocalSlack {
  /** For `clientOptions.slackApiUrl`; ends with a slash. */
  apiUrl: string;
  botToken: string;
  appToken: string;
  signingSecret: string;
  workspace: Workspace;
  stop: () => Promise<void>;
}

/** Starts a local Slack workspace with Slack's Web API, Socket Mode and signed HTTP over real sockets. */
export async function startLocalSlack(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const timings = { ...SLACK_TIMINGS, ...options.timings };
  const state =
    options.saved === undefined
      ? buildState(options, timings)
      : loadState(options.saved, options.app, timings);
  let origin = '';
  const triggers = new Triggers(timings.triggerLife);
  const responseUrls = new ResponseUrls(state, timings.responseUrlLife, () => origin);
  const onChange = () => state.changed();
  const socketMode = new SocketMode({ timings, appId: state.app.id, onChange });
  const transport = state.app.socketMode ? socketMode : new HttpDelivery({ app: state.app, timings });
  const deliveries = new Deliveries({ transport, timings, onChange });
  const context: SlackContext = { state, triggers, responseUrls, deliveries };
  const openSocketUrl = () => origin.replace(/^http/, 'ws') + socketMode.connections.issuePath();
  const serving: ApiServing = {
    handling: {
      context: { state, triggers, openSocketUrl },
      rateLimits: [],
      ...(options.rateLimits === 'slack' && { rateLimiter: new RateLimiter() }),
    },
    faults: new Faults(),
    calls: [],
  };

  const signIn = options.signIn && new SignInWithSlack(options.signIn, state);
  const deliverEvent = (event: WorkspaceEvent) => {
    const payload = eventPayload(state, event);
    if (payload === undefined) return;
    for (let copy = 0; copy < (options.eventCopies ?? 1); copy += 1) deliveries.deliverEvent(payload);
  };
  state.events.on('message', (change) => {
    for (const event of messageEvents(state, change)) deliverEvent(event);
  });
  state.events.on('event', deliverEvent);

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error('local Slack request failed', error);
      sendJson(response, 500, { ok: false, error: 'internal_error' });
    });
  });
  socketMode.connections.acceptFrom(server);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin);
    if ((await signIn?.answer(request, response, url)) === true) return;
    if (url.pathname.startsWith('/api/')) return await answerCall(request, response, url, serving);
    if (/^\/(actions|commands)\//.test(url.pathname) && request.method === 'POST') {
      const { status, body } = await respondTo(request, url.pathname);
      return sendJson(response, status, body);
    }
    if (await serveFile(request, response, url, state)) return;
    sendJson(response, 404, { ok: false, error: 'not_found' });
  }

  async function respondTo(request: IncomingMessage, path: string) {
    try {
      return responseUrls.receive(path, parseObject(await readBody(request)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: 400, body: error.answer } as const;
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${addressOf(server.address()).port}`;

  state.files.origin = origin;

  return {
    apiUrl: `${origin}/api/`,
    botToken: state.app.botToken,
    appToken: state.app.appToken,
    signingSecret: state.app.signingSecret,
    workspace: new Workspace({
      context,
      serving,
      connections: socketMode.connections,
      requestUrl: new RequestUrl(state.app, timings),
    }),
    stop: async () => {
      await deliveries.stop();
      await socketMode.stop();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

function addressOf(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === 'string')
    throw new Error('The local Slack did not get a port to listen on.');
  return address;
}
