import { existsSync } from 'node:fs';
import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { describeError } from '../../agent/errors.ts';
import { parseCheckpoint } from '../../audit/checkpoint.ts';
import { checkpointLine, rowLine } from '../../audit/export-line.ts';
import { createKeyPair, publicPemOf, readSigningKey } from '../../audit/signing-key.ts';
import { auditSettings, sinksOf, trimExported } from '../../audit/sinks.ts';
import { auditFolder, auditKeySource } from '../../settings.ts';
import type { AuditMark } from '../../store/port/audit.ts';
import type { Store } from '../../store/port/store.ts';
import { DURATION, durationMs } from '../../tools/manifest/schema/values.ts';
import { type Command, EXIT, Failure, parseTime, readOptions, UsageError } from '../shared/command.ts';
import { manifestFile, requireManifest } from '../shared/load-manifest.ts';
import { withRecord } from '../shared/open-record.ts';
import { type AuditFilter, describeRow, fits, PeopleNames, RowReader } from './audit-view.ts';

const FOLLOW_EVERY_MS = 1_000;

const OPTIONS = {
  json: { type: 'boolean' },
  checkpoints: { type: 'boolean' },
  follow: { type: 'boolean' },
  since: { type: 'string' },
  until: { type: 'string' },
  tool: { type: 'string' },
  person: { type: 'string' },
  request: { type: 'string' },
  after: { type: 'string' },
  mark: { type: 'string' },
} as const;

/** Prints the audit log in the order of time, and can continue where an earlier export ended. */
export const audit: Command = {
  help: `Usage: countersign audit [filters] [--follow] [--json] [--checkpoints] [--after FILE] [--mark FILE]

Prints the audit log in chronological order, a line for each row: when, what happened, the tool, the people, the
request. Only REDIS_URL is needed; with SLACK_BOT_TOKEN people are shown by name.

  --since TIME   only rows from this time on: 2026-01-31, 2026-01-31T12:00:00Z, or an age such as 30m, 4h, 2d
  --until TIME   only rows before this time
  --tool NAME    only rows about requests of this tool
  --person WHO   only rows that name this person, by id or by name
  --request ID   only rows about this request
  --follow       go on and print new rows until stopped
  --json         print one JSON object per line, as in the export
  --checkpoints  with --json: print the signed checkpoints as well, so that the output can be verified offline
  --after FILE   print only rows after the mark in this file
  --mark FILE    write a mark of the last row that was read to this file

To keep a copy up to date, use the same file for both; it may be missing the first time:
  countersign audit --json --after mark.json --mark mark.json >> audit.jsonl

Exit code: 0 also if no row fits, 1 Redis or the mark cannot be read, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, OPTIONS);
    const filter: AuditFilter = {
      since: parseTime('--since', values.since),
      until: parseTime('--until', values.until),
      tool: values.tool,
      person: values.person,
      request: values.request,
    };
    if (values.checkpoints && !values.json) throw new UsageError('--checkpoints needs --json');
    let mark = await markAfter(values);
    const names = new PeopleNames(context.environment);
    const reader = new RowReader();

    let printed = 0;
    const printNew = async (store: Store): Promise<void> => {
      for await (const row of store.exportAudit(mark.seq)) {
        mark = { seq: row.seq, hash: row.hash };
        const read = reader.read(row);
        if (!(await fits(read, filter, names))) continue;
        printed += 1;
        await context.write(
          `${values.json ? JSON.stringify(rowLine(row)) : await describeRow(read, names)}\n`,
        );
      }
    };
    await withRecord(context, async ({ store }) => {
      await printNew(store);
      if (printed === 0 && !values.json && !values.follow)
        await context.write('The audit log has no such row.\n');
      while (values.follow && !context.signal?.aborted) {
        await sleep(FOLLOW_EVERY_MS, undefined, { ...(context.signal && { signal: context.signal }) }).catch(
          () => {},
        );
        await printNew(store);
      }
      if (!values.checkpoints) return;
      for await (const { text } of store.readCheckpoints()) {
        const checkpoint = parseCheckpoint(text);
        if (checkpoint !== undefined) await context.write(`${JSON.stringify(checkpointLine(checkpoint))}\n`);
      }
    });
    if (values.mark !== undefined) await writeMark(values.mark, mark);
    return EXIT.ok;
  },
};

/** Reads the mark to continue from. Where it is kept in the file that is written, the first time has none. */
async function markAfter(values: {
  readonly after?: string | undefined;
  readonly mark?: string | undefined;
}): Promise<AuditMark> {
  const { after, mark } = values;
  const isFirst =
    mark !== undefined && after !== undefined && resolve(after) === resolve(mark) && !existsSync(after);
  return after === undefined || isFirst ? { seq: 0, hash: '' } : readMark(after);
}

const DEFAULT_FILE = 'audit-key.pem';

/** Makes the key that signs the audit log, and prints its public part. */
export const auditKey: Command = {
  help: `Usage: countersign audit key [FILE]
       countersign audit key --public

Makes an Ed25519 key pair, writes the private key to FILE (default: ${DEFAULT_FILE}; an existing file is never replaced) and
prints the public key. Set AUDIT_KEY_FILE to the file, and keep the public key where nobody who can write to Redis
can change it: "countersign audit verify --key" needs it.

  --public       print the public key of AUDIT_KEY_FILE or AUDIT_KEY instead

Exit code: 0 written or printed, 1 the file exists already or there is no key, 2 wrong usage.
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

/** Removes old rows from Redis that every configured sink has. */
export const auditTrim: Command = {
  help: `Usage: countersign audit trim [--older-than AGE] [--json]

Removes old rows of the audit log from Redis. A row goes only if every sink of the manifest (audit.file, audit.http)
has it and a checkpoint covers it; without a sink nothing is removed. A running bot does the same once an hour.

  --older-than AGE   such as 90d (default: audit.retention of the manifest)
  --json             print one JSON object: rows, checkpoints

Exit code: 0 also if nothing was old enough, 1 there is no sink or no age, or Redis cannot be reached, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' }, 'older-than': { type: 'string' } });
    const age = values['older-than'];
    if (age !== undefined && !DURATION.test(age))
      throw new UsageError(`--older-than needs an age such as 90d, but got "${age}"`);
    const { environment } = context;
    const { manifest, folder } = await requireManifest(manifestFile(environment), environment);
    const settings = auditSettings(manifest.audit, auditFolder(environment, folder));
    const olderThanMs = age === undefined ? settings.retentionMs : durationMs(age);
    if (olderThanMs === undefined)
      throw new Failure('the manifest sets no audit.retention; give --older-than');
    const sinks = sinksOf(settings);
    if (sinks.length === 0)
      throw new Failure('the manifest names no audit.file and no audit.http, so nothing is exported');
    const trimmed = await withRecord(context, ({ store }) => trimExported(store, { sinks, olderThanMs }));
    const { rows, checkpoints } = trimmed;
    await context.write(
      values.json ? `${JSON.stringify(trimmed)}\n` : `removed (rows: ${rows}, checkpoints: ${checkpoints})\n`,
    );
    return EXIT.ok;
  },
};

const Mark = z.strictObject({ seq: z.int().nonnegative(), hash: z.string().regex(/^[0-9a-f]*$/) });

/** Reads a mark from a file; `undefined` if it is an export, which is JSON Lines and may be long. */
export async function markUnlessExport(file: string): Promise<AuditMark | undefined> {
  const opened = await open(file).catch(() => {
    throw new Failure(`${file} cannot be read`);
  });
  const { buffer } = await opened.read(Buffer.alloc(9), 0, 9, 0).finally(() => opened.close());
  return buffer.toString() === '{"type":"' ? undefined : readMark(file);
}

/** Reads the mark of an earlier export; any other file is a `Failure`, never a beginning. */
async function readMark(file: string): Promise<AuditMark> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Failure(`${file} cannot be read; it must be a file that --mark has written`);
  });
  try {
    return Mark.parse(JSON.parse(text));
  } catch {
    throw new Failure(`${file} holds no mark; it must be a file that --mark has written`);
  }
}

/** Writes the mark of an export atomically: a reader finds the old mark or the new one. */
async function writeMark(file: string, { seq, hash }: AuditMark): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, `${JSON.stringify({ seq, hash })}\n`);
    await rename(draft, file);
  } catch (error) {
    throw new Failure(`${file} cannot be written (${describeError(error)})`);
  }
}
