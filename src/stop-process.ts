/** Less than the time that the deployments give a stop, and more than the waits of one. */
const STOP_MS = 45_000;

/** Stops a bot, and ends the process if the stop takes too long or leaves something open. */
export async function stopProcess(
  bot: { stop(): Promise<void> },
  { withinMs = STOP_MS }: { readonly withinMs?: number } = {},
): Promise<void> {
  const end = () => {
    process.stderr.write(`countersign did not stop within ${withinMs / 1_000} seconds; ending the process\n`);
    process.exit(1);
  };
  // It keeps nothing alive: a process without anything open has ended before.
  setTimeout(end, withinMs).unref();
  await bot.stop();
}
