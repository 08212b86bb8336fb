import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { readLines } from '../../audit/read-lines.ts';
import { parsePublicKeys, publicKeysOf, readSigningKey } from '../../audit/signing-key.ts';
import {
  type ExportLines,
  type PublicKeys,
  summarizeExport,
  type Verification,
  verifyExport,
  verifyLog,
} from '../../audit/verify.ts';
import { auditKeySource } from '../../settings.ts';
import { type Command, type CommandContext, EXIT, Failure, UsageError } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';
import { marksUnlessExport } from './audit-marks.ts';

/** Checks the audit log, in Redis or in an export, and names everything that was changed, removed, moved or cut off. */
export const auditVerify: Command = {
  help: `Usage: countersign audit verify [--key FILE] [--against FILE] [--json]
       countersign audit verify --file FILE --key FILE [--partial] [--json]

Checks the audit log: the chains of its rows, and the signed checkpoints over them. A person who can write to Redis
can write a whole chain anew; the checkpoints, whose key is not in Redis, show that.

  --key FILE     the public key, or several in one file after a change of the key (default: the key of
                 AUDIT_KEY_FILE or AUDIT_KEY)
  --against FILE check Redis against an export as well, or against marks that "countersign audit --marks" has written
  --file FILE    check an export instead, without Redis; join rotated files in their order first
  --partial      the file begins in the middle of the log
  --json         print one JSON object: ok, rows, erased, checkpoints, signedUntil, problems

Exit code: 0 everything is intact, 1 something is not, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, {
      json: { type: 'boolean' },
      partial: { type: 'boolean' },
      against: { type: 'string' },
      file: { type: 'string' },
      key: { type: 'string' },
    });
    const keys = await readKeys(values.key, context);
    if (values.file === undefined && values.partial) throw new UsageError('--partial needs --file');
    if (values.file === undefined)
      return report(await verifyRedis(keys, values.against, context), keys, values.json, context);
    if (keys === undefined) throw new UsageError('--file needs --key');
    const lines = linesOf(values.file);
    const verified = await verifyExport(lines, keys, { partial: values.partial ?? false });
    return report(verified, keys, values.json, context);
  },
};

async function verifyRedis(
  keys: PublicKeys | undefined,
  file: string | undefined,
  context: CommandContext,
): Promise<Verification> {
  const marks = file === undefined ? undefined : await marksUnlessExport(file);
  const against =
    file === undefined || marks !== undefined
      ? undefined
      : await summarizeExport(linesOf(file), keys ?? new Map());
  return withRecord(context, ({ store }) => verifyLog(store, { keys, against, ...(marks && { marks }) }));
}

async function readKeys(
  file: string | undefined,
  { environment }: CommandContext,
): Promise<PublicKeys | undefined> {
  if (file === undefined) {
    const source = auditKeySource(environment);
    return source && publicKeysOf([(await readSigningKey(source)).publicKey]);
  }
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Failure(`${file} cannot be read; it should be a public key (PEM)`);
  });
  const keys = parsePublicKeys(text);
  if (keys.size === 0) throw new Failure(`${file} holds no Ed25519 public key (PEM)`);
  return keys;
}

function linesOf(file: string): ExportLines {
  if (!existsSync(file)) throw new Failure(`there is no ${file}`);
  return async function* () {
    for await (const { text } of readLines(createReadStream(file))) yield text;
  };
}

async function report(
  { rows, erased = 0, checkpoints, signedUntil, problems }: Verification,
  keys: PublicKeys | undefined,
  json: boolean | undefined,
  { write, writeError }: CommandContext,
): Promise<number> {
  const ok = problems.length === 0;
  if (json) await write(`${JSON.stringify({ ok, rows, erased, checkpoints, signedUntil, problems })}\n`);
  else {
    for (const found of problems) await writeError(`${placeOf(found)}: ${found.problem}: ${found.message}\n`);
    if (keys === undefined)
      await writeError('The checkpoints were not checked: no key. Use --key or set AUDIT_KEY_FILE.\n');
    const signed =
      signedUntil === undefined ? '' : `, checkpoints: ${checkpoints}, signed until ${signedUntil}`;
    await write(
      `${ok ? 'ok' : `problems: ${problems.length}`} (rows: ${rows}${erased === 0 ? '' : `, erased: ${erased}`}${signed})\n`,
    );
  }
  return ok ? EXIT.ok : EXIT.problem;
}

function placeOf(found: Verification['problems'][number]): string {
  if ('line' in found) return `line ${found.line}`;
  return 'checkpoint' in found ? `checkpoint ${found.checkpoint}` : `chain ${found.shard}, row ${found.seq}`;
}
