#!/usr/bin/env node
import { runCommandLine } from './commands/run-command-line.ts';
import { loadEnvironment } from './load-environment.ts';

/** Writes and waits until the text is flushed; a closed pipe (`| head`) ends the command without an error. */
function writer(stream: NodeJS.WriteStream): (text: string) => Promise<void> {
  stream.on('error', (error) => process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1));
  return (text) => new Promise((resolve) => stream.write(text, () => resolve()));
}

process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: loadEnvironment(),
  write: writer(process.stdout),
  writeError: writer(process.stderr),
  startBot: () => import('./main.ts'),
  ...(process.stdin.isTTY && { input: process.stdin }),
});
