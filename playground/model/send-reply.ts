import type { ServerResponse } from 'node:http';
import { sendJson } from '../send-json.ts';
import { buildChunks, buildCompletion, type Identity } from './build-completion.ts';
import { type BuiltResponse, buildResponse } from './build-response.ts';
import type { ChatRequest } from './chat-request.ts';
import { type Dialect, speakDialect } from './dialects.ts';
import type { CompletionReply, ErrorReply, ModelReply } from './model-reply.ts';
import type { ResponsesRequest } from './responses-request.ts';
import { streamChunks, streamEvents, streamRaw } from './stream-reply.ts';

/** Carries out one scripted reply on the wire, streamed or whole as the request asks. */
export async function sendReply(
  response: ServerResponse,
  reply: ModelReply,
  request: ChatRequest,
  identity: Identity,
  dialect?: Dialect,
): Promise<void> {
  if (!isCompletion(reply)) return sendOther(response, reply);
  if (reply.cut === 'headers') return void response.socket?.destroy();
  if (request.stream !== true)
    return sendWhole(response, reply, JSON.stringify(buildCompletion(reply, request, identity)));
  const chunks = buildChunks(reply, request, identity).map((chunk) => speakDialect(chunk, dialect));
  return streamChunks(response, chunks, reply);
}

/** Carries out one scripted reply in the form of the Responses API; `remember` gets what the next request has to bring back. */
export async function sendResponse(
  response: ServerResponse,
  reply: ModelReply,
  request: ResponsesRequest,
  identity: Identity,
  options: { readonly reasons: boolean; readonly remember: (reasoned: BuiltResponse['reasoned']) => void },
): Promise<void> {
  if (!isCompletion(reply)) return sendOther(response, reply);
  if (reply.cut === 'headers') return void response.socket?.destroy();
  const { events, whole, reasoned } = buildResponse(reply, request, identity, options);
  options.remember(reasoned);
  if (request.stream !== true) return sendWhole(response, reply, JSON.stringify(whole));
  return streamEvents(response, events, reply);
}

async function sendOther(
  response: ServerResponse,
  reply: Exclude<ModelReply, CompletionReply>,
): Promise<void> {
  if ('status' in reply) sendError(response, reply);
  else if ('chunksRaw' in reply) await streamRaw(response, reply.chunksRaw, reply.delayMs);
  else if ('cut' in reply) response.socket?.destroy();
}

function isCompletion(reply: ModelReply): reply is CompletionReply {
  return 'text' in reply || 'calls' in reply || 'refusal' in reply || 'empty' in reply;
}

// A whole answer has no chunks to count, so a cut or a silence falls in the middle of its body.
function sendWhole(response: ServerResponse, { cut, hang }: CompletionReply, body: string): void {
  const bytes = Buffer.from(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  if (cut === undefined && hang === undefined) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, bytes.length / 2));
  if (cut !== undefined) response.socket?.destroySoon();
}

function sendError(response: ServerResponse, { status, headers, body }: ErrorReply): void {
  if (typeof body === 'string') {
    response.writeHead(status, { 'content-type': 'text/html', ...headers });
    response.end(body);
    return;
  }
  sendJson(response, status, body ?? { error: usualError(status) }, headers);
}

function usualError(status: number): object {
  if (status === 429) {
    return {
      message: 'Rate limit reached for requests. Please try again later.',
      type: 'requests',
      param: null,
      code: 'rate_limit_exceeded',
    };
  }
  if (status >= 500) {
    const message =
      status === 503
        ? 'The engine is currently overloaded, please try again later'
        : 'The server had an error while processing your request. Sorry about that!';
    return { message, type: 'server_error', param: null, code: null };
  }
  return {
    message: `The script answers this request with ${status}.`,
    type: 'invalid_request_error',
    param: null,
    code: null,
  };
}
