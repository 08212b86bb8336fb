import { createServer } from 'node:http';

/*
 * The server of the instant model, in a process of its own so that its work is in nobody's time. The name of the model decides
 * the answer: `instant` is a text, `caller` is a tool call, `tool-loop` calls the tool and answers with a text after its result.
 * The first two with `-whole` at the end do not stream.
 */

/** A command over IPC: sets the delay of all later answers, if it has one; the reply has the body of the last request. */
export interface ModelCommand {
  readonly delayMs?: number;
}

const envelope = (kind: string, choice: object) =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: kind,
    created: 1,
    model: 'instant',
    choices: [{ index: 0, ...choice }],
  });
const chunk = (delta: object, finish: string | null) =>
  `data: ${envelope('chat.completion.chunk', { delta, finish_reason: finish })}\n\n`;
const whole = (message: object, finish: string) =>
  envelope('chat.completion', { message: { role: 'assistant', ...message }, finish_reason: finish });

const WORDS = ['The ', 'answer ', 'is ', 'here.'];
const CALL_ID = 'call_00000000';
const ARGUMENTS = ['{"order":"A-1001",', '"amount":1200,', '"reason":"damaged"}'];
const call = (position: object, piece: object, words: string) => ({
  content: null,
  tool_calls: [{ ...position, ...piece, function: { name: 'refund_order', arguments: words } }],
});
const ANSWERS: Readonly<Record<string, string>> = {
  instant: [
    chunk({ role: 'assistant', content: '' }, null),
    ...WORDS.map((content) => chunk({ content }, null)),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ].join(''),
  'instant-whole': whole({ content: WORDS.join('') }, 'stop'),
  caller: [
    chunk({ role: 'assistant', ...call({ index: 0 }, { id: CALL_ID, type: 'function' }, '') }, null),
    ...ARGUMENTS.map((words) => chunk({ tool_calls: [{ index: 0, function: { arguments: words } }] }, null)),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ].join(''),
  'caller-whole': whole(call({}, { id: CALL_ID, type: 'function' }, ARGUMENTS.join('')), 'tool_calls'),
};

/** A conversation continues from its last message: a result leads to a text, anything else to a call. */
function modelFor(name: string, body: readonly Buffer[]): string {
  if (name !== 'tool-loop') return name;
  const text = Buffer.concat(body).toString('latin1');
  return text.lastIndexOf('"role":"tool"') > text.lastIndexOf('"role":"user"') ? 'instant' : 'caller';
}

let answered = 0;
let delayMs = 0;
let lastBody: Buffer[] = [];

/** A call's id must be unique in its thread. */
function answerFor(model: string): string {
  answered += 1;
  const answer = ANSWERS[model] ?? '';
  return answer.replace(CALL_ID, `call_${String(answered).padStart(8, '0')}`);
}

const server = createServer((request, response) => {
  const body: Buffer[] = [];
  request.on('data', (part: Buffer) => body.push(part));
  request.on('end', () => {
    lastBody = body;
    // Clients write the model's name first; parsing the whole body would take longer than answering it.
    const model = /"model": ?"([a-z-]+)"/.exec(body[0]?.subarray(0, 64).toString('latin1') ?? '')?.[1] ?? '';
    const type = model.endsWith('-whole') ? 'application/json' : 'text/event-stream';
    response.writeHead(200, { 'content-type': type });
    const answer = answerFor(modelFor(model, body));
    if (delayMs === 0) response.end(answer);
    else setTimeout(() => response.end(answer), delayMs);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('message', (command: ModelCommand) => {
  delayMs = command.delayMs ?? delayMs;
  process.send?.({ body: Buffer.concat(lastBody).toString('utf8') });
});
process.on('disconnect', () => process.exit());
