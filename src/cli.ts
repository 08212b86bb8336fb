#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

const USAGE = `Usage: countersign <command>

Commands:
  start      connect the bot to Slack; settings come from the environment

Options:
  --help     show this text
  --version  show the version
`;

/** Carries out one command line and gives the exit code: 0 done, 2 not understood. */
async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { help: { type: 'boolean' }, version: { type: 'boolean' } },
    allowPositionals: true,
    strict: false,
  });
  if (values.version) {
    const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
    process.stdout.write(`${version}\n`);
    return 0;
  }
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (positionals.length === 1 && positionals[0] === 'start') {
    await import('./main.ts');
    return 0;
  }
  const problem =
    positionals.length === 0 ? 'no command given' : `unknown command "${positionals.join(' ')}"`;
  process.stderr.write(`countersign: ${problem}\n\n${USAGE}`);
  return 2;
}

process.exitCode = await run(process.argv.slice(2));
