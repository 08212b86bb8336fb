import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describeError } from '../../agent/errors.ts';
import { type CheckpointAnchor, hashOf, markOf } from '../../audit/checkpoint.ts';
import { readLines } from '../../audit/export-line.ts';
import { readSignerState } from '../../audit/signer.ts';
import { parsePublicKeys, readSigningKey } from '../../audit/signing-key.ts';
import {
  type ExportLines,
  type PublicKeys,
  summarizeExport,
  type Unproven,
  type Verification,
  verifyExport,
  verifyLog,
} from '../../audit/verify.ts';
import { auditKeySource, auditStateFile } from '../../settings.ts';
import {
  type Command,
  type CommandContext,
  EXIT,
  Failure,
  readOptions,
  UsageError,
} from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { markUnlessExport } from './audit.ts';

const ANCHOR = /^([1-9]\d{0,15}):([0-9a-f]{64})$/;

/** Checks the audit log, in Redis or in an export, and names everything that was changed, removed, moved or cut off. */
export const auditVerify: Command = {
  help: `Usage: countersign audit verify [--key FILE] [--against FILE] [--since-checkpoint N:HASH] [--json]
       countersign audit verify --file FILE --key FILE [--since-checkpoint N:HASH] [--partial] [--json]

Checks the audit log: the chain of its rows, the signed checkpoints over it, and the approvals that passkeys signed. A person who can write to Redis can
write a whole chain anew; the checkpoints, whose key is not in Redis, show that. The same person can put an older copy of
the log back, or cut its end off together with its checkpoints: only something from outside Redis shows that. Give the
export, or a checkpoint that you have written down (each check prints the last one). Where the bot runs, the memory of its
signer is used by itself (AUDIT_STATE_FILE, or AUDIT_KEY_FILE with ".state" behind it).

  --key FILE     the public key, or several in one file after a change of the key (default: the keys in
                 AUDIT_KEY_FILE or AUDIT_KEY)
  --against FILE check Redis against an export as well, and name the requests that are missing in Redis, as after a
                 restore; or against a mark that "countersign audit --mark" has written
  --since-checkpoint N:HASH
                 check that the log continues this checkpoint
  --file FILE    check an export instead, without Redis; join rotated files in their order first
  --partial      the file begins in the middle of the log
  --json         print one JSON object: ok, rows, erased, proven, redacted, checkpoints, signedUntil, lastCheckpoint, notProven,
                 problems, lost

Exit code: 0 no problem was found, 1 there is one, 2 wrong usage. What could not be proven is said beside it.
`,
  async run(args, context) {
    const { values } = readOptions(args, {
      json: { type: 'boolean' },
      partial: { type: 'boolean' },
      against: { type: 'string' },
      'since-checkpoint': { type: 'string' },
      file: { type: 'string' },
      key: { type: 'string' },
    });
    const { file, against, partial = false, json = false } = values;
    const keys = await readKeys(values.key, context);
    const anchors = readAnchor(values['since-checkpoint']);
    if (file === undefined && partial) throw new UsageError('--partial needs --file');
    if (file !== undefined && against !== undefined)
      throw new UsageError('--against is for Redis, not for --file');
    if (keys === undefined && (file !== undefined || anchors.length > 0))
      throw new UsageError(`${file === undefined ? '--since-checkpoint' : '--file'} needs --key`);
    const verified =
      file === undefined || keys === undefined
        ? await verifyRedis(keys, { against, anchors }, context)
        : await verifyExport(linesOf(file), keys, { partial, anchors });
    return report(verified, { json, ofFile: file !== undefined }, context);
  },
};

async function verifyRedis(
  keys: PublicKeys | undefined,
  {
    against: file,
    anchors,
  }: { readonly against: string | undefined; readonly anchors: readonly CheckpointAnchor[] },
  context: CommandContext,
): Promise<Verification> {
  const mark = file === undefined ? undefined : await markUnlessExport(file);
  const against =
    file === undefined || mark !== undefined
      ? undefined
      : await summarizeExport(linesOf(file), keys ?? new Map());
  const remembered = await readRemembered(context);
  return withRecord(context, ({ store }) =>
    verifyLog(store, {
      keys,
      against,
      marks: [...(mark ? [mark] : []), ...(remembered ? [markOf(remembered)] : [])],
      anchors: [...anchors, ...(remembered ? [{ n: remembered.n, hash: hashOf(remembered) }] : [])],
    }),
  );
}

/** Reads the last checkpoint that the signer of this machine remembers, if there is one. */
async function readRemembered({ environment }: CommandContext) {
  const file = auditStateFile(environment);
  if (file === undefined) return undefined;
  const state = await readSignerState(file).catch((error: unknown) => {
    throw new Failure(`${file} cannot be read (${describeError(error)})`);
  });
  return state?.signed;
}

function readAnchor(text: string | undefined): readonly CheckpointAnchor[] {
  if (text === undefined) return [];
  const [, n, hash] = ANCHOR.exec(text) ?? [];
  if (n === undefined || hash === undefined)
    throw new UsageError(
      '--since-checkpoint needs the number and the hash of a checkpoint, such as 12:0f3a...',
    );
  return [{ n: Number(n), hash }];
}

async function readKeys(
  file: string | undefined,
  { environment }: CommandContext,
): Promise<PublicKeys | undefined> {
  if (file === undefined) {
    const source = auditKeySource(environment);
    return source && (await readSigningKey(source)).publicKeys;
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

const NOT_PROVEN: Readonly<Record<Unproven, string>> = {
  signatures: 'that nobody computed the chain anew: no key. Use --key or set AUDIT_KEY_FILE.',
  end: 'that nobody cut the end off or put an older copy back. Use --against or --since-checkpoint.',
  redacted: 'values that were redacted when they were logged; of those the log has the hash.',
  'erased-rows':
    'that the erased rows were erased by the command: the row that names them is not in this file.',
  'trimmed-rows': 'the rows that were removed from Redis. Check the export with --file.',
};
const FILE_END = 'that nobody cut the end off. Use --since-checkpoint.';

async function report(
  verification: Verification,
  { json, ofFile }: { readonly json: boolean; readonly ofFile: boolean },
  { write, writeError }: CommandContext,
): Promise<number> {
  const { rows, erased = 0, proven, redacted, checkpoints, signedUntil, lastCheckpoint: last } = verification;
  const { notProven, problems, lost = [] } = verification;
  const ok = problems.length === 0;
  if (json) {
    const lastCheckpoint = last && `${last.n}:${last.hash}`;
    const found = {
      ok,
      rows,
      erased,
      proven,
      redacted,
      checkpoints,
      signedUntil,
      lastCheckpoint,
      notProven,
      problems,
      lost,
    };
    await write(`${JSON.stringify(found)}\n`);
    return ok ? EXIT.ok : EXIT.problem;
  }
  for (const found of problems) await writeError(`${placeOf(found)}: ${found.problem}: ${found.message}\n`);
  for (const code of notProven)
    await writeError(`Not proven: ${code === 'end' && ofFile ? FILE_END : NOT_PROVEN[code]}\n`);
  for (const { request, title, requesters, events, at } of lost)
    await writeError(
      `missing in Redis: ${title} (${request}, requested by ${requesters.join(', ')}): ${events.join(', ')}; the last at ${at}\n`,
    );
  for (const { seq, values } of redacted) await writeError(`row ${seq}: redacted: ${values.join(', ')}\n`);
  const signed =
    signedUntil === undefined ? '' : `, checkpoints: ${checkpoints}, signed until ${signedUntil}`;
  const clean = notProven.length === 0 ? 'ok' : 'no problem found';
  const counts = [
    `rows: ${rows}`,
    ...(erased === 0 ? [] : [`erased: ${erased}`]),
    ...(proven === 0 ? [] : [`proven by passkeys: ${proven}`]),
  ].join(', ');
  await write(`${ok ? clean : `problems: ${problems.length}`} (${counts}${signed})\n`);
  if (last !== undefined) await write(`last checkpoint ${last.n}:${last.hash}\n`);
  return ok ? EXIT.ok : EXIT.problem;
}

function placeOf(found: Verification['problems'][number]): string {
  if ('line' in found) return `line ${found.line}`;
  return 'checkpoint' in found ? `checkpoint ${found.checkpoint}` : `row ${found.seq}`;
}
