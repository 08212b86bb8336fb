import { createBot } from './create-bot.ts';

const bot = createBot({ allowMissingTools: process.argv.includes('--allow-missing-tools') });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void bot.stop());
try {
  await bot.start();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
