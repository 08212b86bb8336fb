/*
 * Loaded into every bot of the bench before its own code. It answers with the heap's size after a garbage collection, and
 * ends the process together with the bench. It imports nothing, so that it adds nothing to the bot's start.
 */
process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ heapBytes: process.memoryUsage().heapUsed });
});
process.on('disconnect', () => process.exit(0));
