import { fileURLToPath } from 'node:url';
import { superviseBot } from '../../../playground/bot/supervise-bot.ts';

/** Supervises the stand-in bot until it is killed, and prints the process ids. */
const entry = fileURLToPath(new URL('./stand-in-bot.mjs', import.meta.url));
let written = '';
const bot = superviseBot({
  entry,
  env: process.env,
  log: (text) => {
    written += text;
  },
});
await bot.connected();
const helper = /"helper":(\d+)/.exec(written)?.[1];
process.stdout.write(`${bot.state().pid} ${helper}\n`);
