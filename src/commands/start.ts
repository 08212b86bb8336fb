import { type Command, EXIT, readOptions } from './shared/command.ts';

/** Runs the bot until it is stopped; missing settings are named and end it at once. */
export const start: Command = {
  help: `Usage: countersign start [--allow-missing-tools]

Connects the bot to Slack and runs until it is stopped (SIGINT, SIGTERM). Settings come from the environment. If one is
missing, or "countersign manifest check" finds a mistake, nothing is started; "countersign doctor" checks all of it.

  --allow-missing-tools  start although modules or commands of tools are missing; the admins are told which

Exit code: 0 stopped as asked, 1 a setting or the manifest is wrong, or the bot could not go on, 2 wrong usage.
`,
  async run(args, { startBot }) {
    readOptions(args, { 'allow-missing-tools': { type: 'boolean' } });
    if (startBot === undefined) throw new Error('The bot cannot be started from here');
    await startBot();
    return EXIT.ok;
  },
};
