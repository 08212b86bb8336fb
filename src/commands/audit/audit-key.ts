import { writeFile } from 'node:fs/promises';
import { createKeyPair, publicPemOf, readSigningKey } from '../../audit/signing-key.ts';
import { auditKeySource } from '../../settings.ts';
import { type Command, EXIT, Failure } from '../shared/command.ts';
import { readOptions } from '../shared/options.ts';

const DEFAULT_FILE = 'audit-key.pem';

/** Makes the key that signs the audit log, and prints its public part. */
export const auditKey: Command = {
  help: `Usage: countersign audit key [FILE]
       countersign audit key --public

Makes an Ed25519 key pair, writes the private key to FILE (default: ${DEFAULT_FILE}; an existing file is never replaced) and
prints the public key. Set AUDIT_KEY_FILE to the file, and keep the public key where nobody who can write to Redis
can change it: "countersign audit verify --key" needs it.

  --public       print the public key of AUDIT_KEY_FILE or AUDIT_KEY instead
`,
  async run(args, { environment, write, writeError }) {
    const { values, positionals } = readOptions(args, { public: { type: 'boolean' } }, { positionals: 1 });
    if (values.public) {
      const source = auditKeySource(environment);
      if (source === undefined) throw new Failure('AUDIT_KEY_FILE and AUDIT_KEY are not set');
      await write(publicPemOf(await readSigningKey(source)));
      return EXIT.ok;
    }
    const [file = DEFAULT_FILE] = positionals;
    const { privatePem, publicPem } = createKeyPair();
    await writeFile(file, privatePem, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
      const code = error instanceof Error && 'code' in error ? error.code : error;
      throw new Failure(
        code === 'EEXIST' ? `${file} exists already` : `${file} cannot be written (${String(code)})`,
      );
    });
    await writeError(`The private key is in ${file}; set AUDIT_KEY_FILE to it. This is the public key:\n`);
    await write(publicPem);
    return EXIT.ok;
  },
};
