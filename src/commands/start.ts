import { type Command, EXIT } from './shared/command.ts';
import { readOptions } from './shared/options.ts';

/** Runs the bot until it is stopped; settings that are missing end it at once, with their names. */
export const start: Command = {
  help: `Usage: countersign start

Connects the bot to Slack and works until it is stopped (SIGINT, SIGTERM). Settings come from the environment; a
missing one is named, and nothing is started. "countersign doctor" says more.
`,
  async run(args) {
    readOptions(args, {});
    await import('../main.ts');
    return EXIT.ok;
  },
};
