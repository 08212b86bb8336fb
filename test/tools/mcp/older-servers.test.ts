import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, eventually, nodeConfig, open, temporaryFolder } from './support.ts';

/** Answers as servers did before there was a probe, without a library; `onOther` says what it does with anything else. */
const script = (onOther: string) => `
const { appendFileSync } = require('node:fs');
appendFileSync(process.argv[1], 'started ' + process.pid + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const reply = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  if (method === 'initialize') {
    const { protocolVersion } = params;
    reply({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } });
  } else if (method === 'tools/list') reply({ tools: [{ name: 'greet', inputSchema: { type: 'object' } }] });
  else if (method === 'tools/call') reply({ content: [{ type: 'text', text: 'hello' }] });
  else if (id !== undefined) { ${onOther} }
});`;

test.each([
  ['ends', 'process.exit(1);', 2],
  ['is silent', '', 1],
])(
  'a server that %s on the probe is greeted in the older way, and is not probed again',
  async (_what, onOther, starts) => {
    const file = join(temporaryFolder(), 'notes');
    appendFileSync(file, '');
    const started = () => readFileSync(file, 'utf8').trim().split('\n');
    const { server } = await open(nodeConfig(['-e', script(onOther), file], { startTimeoutMs: 6000 }));
    expect(server.describe()).toMatchObject({ state: 'connected', peer: 'old 1', protocol: '2025-11-25' });
    expect(await call(server, 'greet')).toBe('hello');
    expect(started()).toHaveLength(starts);

    const before = Date.now();
    process.kill(Number(started().at(-1)?.split(' ')[1]), 'SIGKILL');
    await eventually(() => expect(server.describe()).toMatchObject({ state: 'connected', restarts: 1 }));
    expect(started()).toHaveLength(starts + 1);
    expect(Date.now() - before).toBeLessThan(2000);
  },
);
