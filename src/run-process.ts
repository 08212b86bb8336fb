import { createBot } from './create-bot.ts';
import { stopProcess } from './stop-process.ts';

const bot = createBot({ allowMissingTools: process.argv.includes('--allow-missing-tools') });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stopProcess(bot));
try {
  await bot.start();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
