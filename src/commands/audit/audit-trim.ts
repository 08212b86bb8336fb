import { auditSettings, sinksOf } from '../../audit/sinks.ts';
import { trimExported } from '../../audit/trim.ts';
import { DURATION, durationMs } from '../../tools/manifest/schema/values.ts';
import { type Command, EXIT, Failure, UsageError } from '../shared/command.ts';
import { manifestFile, requireManifest } from '../shared/load-manifest.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';

/** Removes old rows from Redis that every configured sink has. */
export const auditTrim: Command = {
  help: `Usage: countersign audit trim [--older-than AGE] [--json]

Removes old rows of the audit log from Redis. A row goes only if every sink of the manifest (audit.file, audit.http)
has it and a checkpoint covers it; without a sink nothing is removed. A running bot does the same once an hour.

  --older-than AGE   such as 90d (default: audit.retention of the manifest)
  --json             print one JSON object: rows, checkpoints
`,
  async run(args, context) {
    const { values } = readOptions(args, { json: { type: 'boolean' }, 'older-than': { type: 'string' } });
    const age = values['older-than'];
    if (age !== undefined && !DURATION.test(age))
      throw new UsageError(`--older-than needs an age such as 90d, but got "${age}"`);
    const { environment } = context;
    const { manifest, folder } = await requireManifest(manifestFile(environment), environment);
    const settings = auditSettings(manifest.audit, folder);
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
