// Runs the server as its own child for as long as the pipe on standard input stays open. The kernel closes that pipe
// however the starting process ends, SIGKILL included, so no server and no temporary folder is left behind.
// Plain JavaScript, because it must start in milliseconds and with no loader.
import { spawn } from 'node:child_process';
import { appendFileSync, openSync, rmSync, writeFileSync } from 'node:fs';

const GRACE_MILLISECONDS = 10_000;

const { server, url, serverArguments, dataFolder, removeDataFolder, logFile, lockFile } = JSON.parse(
  process.argv[2],
);

let isRunning = true;
let isStopping = false;

const log = openSync(logFile, 'w');
const child = spawn(server, serverArguments, { cwd: dataFolder, stdio: ['ignore', log, log] });
// The lock names the server itself, so that a data folder stays locked even if this process is killed.
if (child.pid !== undefined) writeFileSync(lockFile, `${child.pid} ${url}`);

child.on('error', (error) => {
  appendFileSync(logFile, `${error.message}\n`);
  if (child.pid === undefined) serverEnded();
});
child.on('exit', serverEnded);

process.stdin.on('end', stop);
process.stdin.on('error', stop);
process.stdin.resume();
process.stdout.on('error', () => {});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, stop);

function serverEnded() {
  isRunning = false;
  if (isStopping) cleanUp();
  else process.stdout.write('server ended\n');
}

function stop() {
  if (isStopping) return;
  isStopping = true;
  if (!isRunning) {
    cleanUp();
    return;
  }
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), GRACE_MILLISECONDS);
}

function cleanUp() {
  rmSync(lockFile, { force: true });
  if (removeDataFolder) rmSync(dataFolder, { recursive: true, force: true });
  process.exit(0);
}
