import type { ServerResponse } from 'node:http';
import { sendJson } from '../send-json.ts';
import { buildChunks, buildCompletion, type Identity } from './build-completion.ts';
import type { ChatRequest } from './chat-request.ts';
import type { CompletionReply, ErrorReply, ModelReply } from './model-reply.ts';
import { streamChunks, streamRaw } from './stream-reply.ts';

/** Carries out one scripted reply on the wire, streamed or whole as the request asks. */
export async function sendReply(
  response: ServerResponse,
  reply: ModelReply,
  request: ChatRequest,
  identity: Identity,
): Promise<void> {
  if ('status' in reply) return sendError(response, reply);
  if ('chunksRaw' in reply) return streamRaw(response, reply.chunksRaw, reply.delayMs);
  if ('cut' in reply && reply.cut === 'headers') {
    response.socket?.destroy();
    return;
  }
  if (!isCompletion(reply)) return;
  if (request.stream === true) return streamChunks(response, buildChunks(reply, request, identity), reply);
  sendWhole(response, reply, JSON.stringify(buildCompletion(reply, request, identity)));
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
