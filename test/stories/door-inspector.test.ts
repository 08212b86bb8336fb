import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { INSPECTOR, installInspector, nodeForSuite } from '../../conformance/install.ts';
import { KEYS, startCalling } from './calling.ts';
import { temporaryFolder } from './shell.ts';
import { CAST } from './support.ts';

const Result = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ text: z.string() })),
});

/** Runs the inspector's command line against the door, with a home of its own; the revision is one of its "eras". */
async function inspect(port: number, era: string, ...args: readonly string[]): Promise<unknown> {
  const home = temporaryFolder();
  const { stdout } = await promisify(execFile)(
    nodeForSuite(),
    [
      ...[INSPECTOR, '--cli', `http://127.0.0.1:${port}/mcp`, '--transport', 'http', '--stored-auth-only'],
      ...['--header', `Authorization: Bearer ${KEYS.pipeline}`, '--protocol-era', era, '--quiet', ...args],
    ],
    { cwd: home, env: { PATH: process.env.PATH, HOME: home } },
  );
  return JSON.parse(stdout);
}

test.each(['legacy', 'modern'])(
  "the inspector's command line lists the tools, calls one at once and waits for people (%s)",
  async (era) => {
    installInspector();
    const door = await startCalling();
    const { port } = door.bot();
    const { tools } = z
      .object({ tools: z.array(z.looseObject({ name: z.string() })) })
      .parse(await inspect(port, era, '--method', 'tools/list'));
    expect(tools.map(({ name }) => name)).toContain('refund_order');
    const call = (amount: number) =>
      inspect(
        port,
        era,
        ...['--method', 'tools/call', '--tool-name', 'refund_order'],
        ...['--tool-args-json', JSON.stringify({ orderId: 'A-1001', amount })],
      );
    const textIn = (result: unknown) =>
      Result.parse(result)
        .content.map(({ text }) => text)
        .join('');
    expect(textIn(await call(500))).toContain('"refunded":500');
    const waiting = call(12_000);
    await door.place.click(CAST.alice, /Approval needed/, 'approve');
    expect(textIn(await waiting)).toContain('"refunded":12000');
    expect(await door.refunded()).toBe(12_500);
    await expect(call(1)).resolves.toMatchObject({ content: [{ type: 'text' }] });
  },
);
