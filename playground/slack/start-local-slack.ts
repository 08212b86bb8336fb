import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildState, type WorkspaceSeed } from './build-state.ts';
import { eventsFor } from './events/message-events.ts';
import { SLACK_TIMINGS, type Timings } from './limits.ts';
import type { Surroundings } from './people/interaction.ts';
import { ResponseUrls } from './people/response-urls.ts';
import { Triggers } from './people/triggers.ts';
import { SocketMode } from './socket-mode/socket-mode.ts';
import type { JsonObject } from './state/types.ts';
import {
  type CallHandling,
  handleCall,
  type RateLimit,
  type RecordedCall,
  tokenKind,
} from './web-api/handle-call.ts';
import { parseObject, readArguments, readBody, readToken } from './web-api/read-request.ts';
import { Refusal } from './web-api/refusal.ts';
import { Workspace } from './workspace.ts';

export interface LocalSlackOptions extends WorkspaceSeed {
  timings?: Partial<Timings>;
  /** A free port is taken when none is named. */
  port?: number;
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

/** Starts a Slack workspace on this machine that speaks Slack's Web API and Socket Mode over real sockets. */
export async function startLocalSlack(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const timings = { ...SLACK_TIMINGS, ...options.timings };
  const state = buildState(options);
  const calls: RecordedCall[] = [];
  const rateLimits: RateLimit[] = [];
  let origin = '';
  const triggers = new Triggers(timings.triggerLife);
  const responseUrls = new ResponseUrls(state, timings.responseUrlLife, () => origin);
  const socketMode = new SocketMode({ timings, appId: state.app.id, onChange: () => state.changed() });
  const around: Surroundings = { state, triggers, responseUrls, socketMode };
  const openSocketUrl = () => origin.replace(/^http/, 'ws') + socketMode.connections.issuePath();
  const handling: CallHandling = { context: { state, triggers, openSocketUrl }, rateLimits };

  state.events.on('message', (change) => {
    for (const event of eventsFor(state, change)) socketMode.deliverEvent(event);
  });

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error('The local Slack failed on a request; this is a bug of it.', error);
      send(response, 500, { ok: false, error: 'internal_error' });
    });
  });
  socketMode.connections.acceptFrom(server);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin);
    if (url.pathname.startsWith('/api/')) return await answerCall(request, response, url);
    if (/^\/(actions|commands)\//.test(url.pathname) && request.method === 'POST') {
      const { status, body } = await respondTo(request, url.pathname);
      return send(response, status, body);
    }
    send(response, 404, { ok: false, error: 'not_found' });
  }

  async function answerCall(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const method = url.pathname.slice('/api/'.length);
    let given: JsonObject;
    try {
      given = await readArguments(request, url);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return send(response, 200, error.answer);
    }
    const token = readToken(request, given);
    const { status, body, retryAfterSeconds } = handleCall(method, given, token, handling);
    const { token: _secret, ...shown } = given;
    calls.push({
      method,
      arguments: shown,
      token: tokenKind(token, handling),
      status,
      response: body,
      at: Date.now(),
    });
    state.changed();
    send(response, status, body, {
      'x-oauth-scopes': state.app.scopes.join(','),
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    });
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

  return {
    apiUrl: `${origin}/api/`,
    botToken: state.app.botToken,
    appToken: state.app.appToken,
    signingSecret: state.app.signingSecret,
    workspace: new Workspace(around, calls, rateLimits),
    stop: async () => {
      await socketMode.stop();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

function send(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(body));
}

function addressOf(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === 'string')
    throw new Error('The local Slack did not get a port to listen on.');
  return address;
}
