import { parseCheckpoint } from '../../audit/checkpoint.ts';
import { timeOf } from '../../audit/export-line.ts';
import { readSigningKey } from '../../audit/signing-key.ts';
import { auditSettings, sinksOf } from '../../audit/sinks.ts';
import { auditKeySource } from '../../settings.ts';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import type { CommandContext } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { type Finding, failed, firstLineOf, notChecked, ok, warning } from './finding.ts';

type Loaded = { readonly manifest: Manifest; readonly folder: string } | undefined;

/** Checks that the audit log is signed and exported. */
export async function checkAudit(context: CommandContext, loaded: Loaded): Promise<Finding[]> {
  return [await checkKey(context.environment), await checkExport(context, loaded)];
}

async function checkKey(environment: NodeJS.ProcessEnv): Promise<Finding> {
  const check = 'audit key';
  const source = auditKeySource(environment);
  if (source === undefined)
    return warning(
      check,
      'the audit log is not signed; make a key (countersign audit key) and set AUDIT_KEY_FILE',
    );
  try {
    return ok(check, `checkpoints are signed with the key ${(await readSigningKey(source)).id}`);
  } catch (error) {
    return failed(check, firstLineOf(error));
  }
}

async function checkExport(context: CommandContext, loaded: Loaded): Promise<Finding> {
  const check = 'audit export';
  if (loaded === undefined) return notChecked(check, 'there is no manifest to take the sinks from');
  const sinks = sinksOf(auditSettings(loaded.manifest.audit, loaded.folder));
  if (sinks.length === 0)
    return warning(check, 'the audit log is in Redis only; set audit.file or audit.http in the manifest');
  const { REDIS_URL: url = '' } = context.environment;
  if (url === '') return notChecked(check, 'REDIS_URL is not set');
  try {
    return await withRecord(context, async ({ store }) => {
      const progress = await store.readProgress();
      const last = await store.lastCheckpoint();
      const at = last && parseCheckpoint(last.text)?.at;
      const ends = await store.auditEnds();
      const behind = sinks.map(({ name }) => {
        const marks = new Map((progress.get(name)?.marks ?? []).map(({ shard, seq }) => [shard, seq]));
        const rows = ends.reduce((sum, { head }) => sum + head.seq - (marks.get(head.shard) ?? 0), 0);
        return `${name} lacks ${rows} rows`;
      });
      const signed = at === undefined ? 'no checkpoint yet' : `last checkpoint at ${timeOf(at)}`;
      return ok(check, `${behind.join(', ')}; ${signed}`);
    });
  } catch (error) {
    return failed(check, firstLineOf(error));
  }
}
