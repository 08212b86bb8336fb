import { spawn } from 'node:child_process';

/** Result of a command with its whole output. */
export type CommandOutcome = { succeeded: boolean; output: string };

/** Runs a command to its end without a terminal; a command that fails or cannot start is an outcome, never a throw. */
export function runCommand(
  command: string,
  commandArguments: string[],
  env: NodeJS.ProcessEnv,
): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    const child = spawn(command, commandArguments, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ succeeded: false, output: `${output}${error.message}\n` }));
    child.on('close', (code) => resolve({ succeeded: code === 0, output }));
  });
}

/** Returns the last non-empty lines of an output, indented for use below a sentence. */
export function lastLines(output: string, count = 12): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return '  (it printed nothing)';
  return lines
    .slice(-count)
    .map((line) => `  ${line.trimEnd()}`)
    .join('\n');
}
