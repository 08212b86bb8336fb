import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { WorkspaceState } from '../state/workspace-state.ts';
import type { StoredFile } from './file-shelf.ts';

const PRIVATE = /^\/files-pri\/[A-Z0-9]+-([A-Z0-9]+)\//;
const UPLOAD = /^\/upload\/v1\/([0-9a-f]+)$/;

/** Answers a request for a file or an upload; returns `false` for any other path. */
export async function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  { pathname }: URL,
  state: WorkspaceState,
): Promise<boolean> {
  const ticket = UPLOAD.exec(pathname)?.[1];
  if (ticket !== undefined && request.method === 'POST') {
    const problem = state.files.receive(ticket, await readBytes(request));
    response.writeHead(problem === undefined ? 200 : 400, { 'content-type': 'text/plain' });
    response.end(problem ?? 'OK');
    return true;
  }
  if (pathname === '/signin') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<!DOCTYPE html><html><title>Sign in to your workspace | Slack</title></html>');
    return true;
  }
  const id = PRIVATE.exec(pathname)?.[1];
  if (id === undefined) return false;
  sendFile(request, response, id, state);
  return true;
}

/** Sends the bytes to the app's token with its scope; everybody else is sent to the page that asks them to sign in. */
function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
  state: WorkspaceState,
): void {
  const { app, used } = state;
  const isToken = request.headers.authorization === `Bearer ${app.botToken}` && !app.isTokenRevoked;
  if (!isToken || !app.scopes.includes('files:read')) {
    response.writeHead(302, { location: `/signin?redir=${encodeURIComponent(request.url ?? '')}` });
    response.end();
    return;
  }
  used.scopes.add('files:read');
  const file = state.files.find(id);
  if (file === undefined || file.deleted || !isShown(state, file.shares)) {
    response.writeHead(404, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<!DOCTYPE html><html><title>Not found</title></html>');
    return;
  }
  const length = file.bytes.length + file.filler;
  response.writeHead(200, { 'content-type': file.mimetype, 'content-length': length });
  // A reader that has enough closes the connection.
  pipeline(Readable.from(chunksOf(file)), response, () => {});
}

const CHUNK = Buffer.alloc(64 * 1024);

function* chunksOf({ bytes, filler }: StoredFile): Generator<Buffer> {
  yield bytes;
  for (let left = filler; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, left);
}

/** Tells whether the app is in a channel that shows a file. */
export function isShown(state: WorkspaceState, shares: readonly { channel: string }[]): boolean {
  return shares.some(({ channel }) => state.channels.get(channel)?.members.has(state.app.botUserId) === true);
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
