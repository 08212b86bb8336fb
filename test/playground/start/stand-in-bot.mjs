// Stands in for the bot: says that it is connected, with a helper process in its group; how it ends is in its environment.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

const { BROKEN_WHILE, DEAF, ENDS_AFTER_MS } = process.env;

if (BROKEN_WHILE !== undefined && existsSync(BROKEN_WHILE)) {
  process.stderr.write('countersign cannot start:\n  there is no manifest.yml\n');
  process.exit(1);
}
const helper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
process.on('SIGTERM', () => {
  if (DEAF === undefined) process.exit(0);
});
process.stdout.write('a line that is no JSON\n');
process.stdout.write(`${JSON.stringify({ helper: helper.pid })}\n`);
process.stdout.write(`${JSON.stringify({ level: 30, msg: 'connected to Slack' })}\n`);
if (ENDS_AFTER_MS === undefined) setInterval(() => {}, 1_000);
else setTimeout(() => process.exit(1), Number(ENDS_AFTER_MS));
