import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ThreadRecord } from '../../record-protocol.ts';
import { sendJson } from '../../send-json.ts';
import type { Workspace } from '../../slack/workspace.ts';
import { isActionName } from '../actions/action-schemas.ts';
import { performAction } from '../actions/actions.ts';
import type { Clients } from '../clients.ts';
import type { ReadPositions } from '../read-positions.ts';
import { guardRequest, HttpError, readJson, sendAnswer } from './read-request.ts';
import { serveFile } from './serve-file.ts';

/** The parts of the page server that answer requests. */
export interface RequestContext {
  /** The folder of the built page. */
  readonly files: string;
  readonly port: number;
  readonly playground: { kill(): Promise<void>; startJob(): void; interruptJob(): void };
  readonly record: { read(threadId: string): Promise<ThreadRecord | undefined> };
  readonly workspace: Workspace;
  readonly readPositions: ReadPositions;
  readonly clients: Clients;
}

const SAFETY_HEADERS = {
  'content-security-policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
};

/** Answers one request; never rejects. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  site: RequestContext,
): Promise<void> {
  try {
    for (const [name, value] of Object.entries(SAFETY_HEADERS)) response.setHeader(name, value);
    guardRequest(request, site.port);
    await route(request, response, site);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else if (error instanceof HttpError)
      sendAnswer(response, error.status, { ok: false, error: error.message });
    else if (!request.destroyed || request.complete) fail(response, error);
  }
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  site: RequestContext,
): Promise<void> {
  const path = pathOf(request);
  const [first, second = '', third = ''] = path.split('/').slice(1);
  switch (first) {
    case 'client':
      if (third === 'events') {
        requireMethod(request, 'GET');
        return site.clients.open(requirePerson(site, second), response);
      }
      requireMethod(request, 'POST');
      return await act(request, response, site, second, third);
    case 'record':
      requireMethod(request, 'GET');
      return await showRecord(response, site, second);
    case 'playground':
      requireMethod(request, 'POST');
      await readJson(request);
      await pressButton(site.playground, second);
      return sendAnswer(response, 200, { ok: true });
    case 'health':
      return sendAnswer(response, 200, { ok: true });
    default:
      requireMethod(request, 'GET', 'HEAD');
      return await serveFile(response, site.files, path);
  }
}

/** Presses a button that is not Slack's. */
async function pressButton(playground: RequestContext['playground'], name: string): Promise<void> {
  switch (name) {
    case 'kill':
      return await playground.kill();
    case 'start-job':
      return playground.startJob();
    case 'interrupt-job':
      return playground.interruptJob();
    default:
      throw new HttpError(404, 'Not found.');
  }
}

async function act(
  request: IncomingMessage,
  response: ServerResponse,
  { workspace, readPositions }: RequestContext,
  userId: string,
  name: string,
): Promise<void> {
  const person = workspace.as(requirePerson({ workspace }, userId));
  if (!isActionName(name)) throw new HttpError(404, `Unknown action: ${name}.`);
  const body = await readJson(request);
  sendAnswer(
    response,
    200,
    await performAction(name, body, { person, state: workspace.state, readPositions }),
  );
}

async function showRecord(
  response: ServerResponse,
  { record }: RequestContext,
  threadId: string,
): Promise<void> {
  const found = await record.read(threadId);
  // A thread that was just written is not on record yet: the page asks again, and nothing is wrong.
  if (found === undefined) response.writeHead(204, { 'cache-control': 'no-store' }).end();
  else sendJson(response, 200, { ...found }, { 'cache-control': 'no-store' });
}

function requirePerson({ workspace }: Pick<RequestContext, 'workspace'>, userId: string): string {
  const user = workspace.state.users.get(userId);
  if (user === undefined || user.is_bot)
    throw new HttpError(404, 'There is no such person in this workspace.');
  return user.id;
}

function requireMethod({ method = '' }: IncomingMessage, ...allowed: string[]): void {
  if (!allowed.includes(method)) throw new HttpError(405, `${method} is not allowed here.`);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  try {
    return decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    throw new HttpError(404, 'Not found.');
  }
}

function fail(response: ServerResponse, error: unknown): void {
  console.error('page server request failed', error);
  sendAnswer(response, 500, { ok: false, error: 'The playground failed. See its terminal for the error.' });
}
