import { pino } from 'pino';
import { readSettings } from './settings.ts';
import { NOBODY, startBot } from './start-bot.ts';
import { askQuestion } from './tools/ask-question.ts';

const result = readSettings(process.env);
if (!result.ok) {
  const problems = result.problems.map((problem) => `  ${problem}\n`).join('');
  process.stderr.write(
    `countersign cannot start:\n${problems}See .env.example for what each setting means.\n`,
  );
  process.exit(1);
}

const logger = pino({ level: result.settings.logLevel });
try {
  const bot = await startBot({
    settings: result.settings,
    instructions: 'You are a helpful colleague in Slack. Ask when something is unclear.',
    tools: [askQuestion],
    policy: NOBODY,
    logger,
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void bot.stop());
  logger.info('connected to Slack');
} catch (error) {
  process.stderr.write(
    `countersign cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(1);
}
