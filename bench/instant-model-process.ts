import { createServer } from 'node:http';

/*
 * The server of an instant model, alone in its process so that its work is in nobody's time: it reads a request to its
 * end and answers with the same bytes every time. Asked over IPC, it hands over the last body it was sent.
 */
const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'instant',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;
const answer = Buffer.from(
  [
    chunk({ role: 'assistant', content: '' }, null),
    ...['The ', 'answer ', 'is ', 'here.'].map((content) => chunk({ content }, null)),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ].join(''),
);

let lastBody: Buffer[] = [];
const server = createServer((request, response) => {
  const body: Buffer[] = [];
  request.on('data', (part: Buffer) => body.push(part));
  request.on('end', () => {
    lastBody = body;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(answer);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.send?.({ port: address.port });
});
process.on('message', () => process.send?.({ body: Buffer.concat(lastBody).toString('utf8') }));
process.on('disconnect', () => process.exit());
