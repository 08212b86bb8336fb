import { randomBytes } from 'node:crypto';
import { type Command, EXIT, readOptions } from '../shared/command.ts';

const KEY_BYTES = 32;

/** Makes the key with which a caller proves who it is. */
export const callerKey: Command = {
  help: `Usage: countersign caller key

Prints a new key of 32 random bytes for one caller of the manifest. Keep it in the environment of the bot and name it in
the manifest (identity: { key: "\${NAME}" }), and give it to the caller as a secret. The bot keeps only its hash.

Exit code: 0 success, 2 wrong usage.
`,
  async run(args, { write }) {
    readOptions(args, {});
    await write(`${randomBytes(KEY_BYTES).toString('base64url')}\n`);
    return EXIT.ok;
  },
};
