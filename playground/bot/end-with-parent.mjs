// Ends the process it is loaded into, and its group, when the pipe on standard input closes. The kernel closes that pipe
// however the starting process ends, SIGKILL included, so no bot is left behind.
// Plain JavaScript, because it is loaded before any loader of TypeScript.
process.stdin.on('end', end);
process.stdin.on('error', end);
process.stdin.resume();
// A bot that ends by itself must not be kept alive by this stream.
process.stdin.unref();

function end() {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    process.exit(1);
  }
}
