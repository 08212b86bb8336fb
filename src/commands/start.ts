import { type Command, EXIT } from './shared/command.ts';
import { readOptions } from './shared/options.ts';

/** Runs the bot until it is stopped; missing settings are named and end it at once. */
export const start: Command = {
  help: `Usage: countersign start

Connects the bot to Slack and runs until it is stopped (SIGINT, SIGTERM). Settings come from the environment. If one is
missing, nothing is started; "countersign doctor" checks all of them.
`,
  async run(args) {
    readOptions(args, {});
    await import('../main.ts');
    return EXIT.ok;
  },
};
