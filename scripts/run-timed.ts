import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a command and returns its duration in seconds and its output, which an error holds too. */
export async function runTimed(
  command: string,
  args: readonly string[],
  { cwd, env = process.env }: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<{ readonly seconds: number; readonly output: string }> {
  const startedAt = performance.now();
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${String(code)}:\n${output}`);
  return { seconds: secondsSince(startedAt), output };
}

export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1_000;
}

/** Prints steps with their seconds as a table. */
export function printSteps(rows: readonly (readonly [step: string, seconds: number])[]): void {
  process.stdout.write('| step | seconds |\n| --- | ---: |\n');
  for (const [step, seconds] of rows) process.stdout.write(`| ${step} | ${seconds.toFixed(1)} |\n`);
}
