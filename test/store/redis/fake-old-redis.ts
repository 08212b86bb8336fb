import { type AddressInfo, createServer } from 'node:net';

/** A server of version 5, as far as a client sees it: it knows no HELLO, and its errors repeat what it was sent. */
export async function startOldRedis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const info =
    'redis_version:5.0.14\r\nrole:master\r\nloading:0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      for (const words of commandsIn(data.toString())) socket.write(answerTo(words, info));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/** A client writes its commands whole, so that each begins where a length of an array stands. */
function commandsIn(text: string): string[][] {
  return text
    .split(/^\*\d+\r\n/m)
    .filter((command) => command !== '')
    .map((command) => command.split('\r\n').filter((_, index) => index % 2 === 1));
}

function answerTo([name = '', ...rest]: readonly string[], info: string): string {
  switch (name.toLowerCase()) {
    case 'info':
      return `$${info.length}\r\n${info}\r\n`;
    case 'auth':
      return `-ERR invalid password ${rest.join(' ')}\r\n`;
    case 'ping':
      return '+PONG\r\n';
    default:
      return `-ERR unknown command \`${name}\`, with args beginning with: ${rest.join(' ')}\r\n`;
  }
}
