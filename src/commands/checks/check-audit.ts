import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseCheckpoint } from '../../audit/checkpoint.ts';
import { timeOf } from '../../audit/export-line.ts';
import { exportIn } from '../../audit/export-progress.ts';
import { readSignerState, Signer } from '../../audit/signer.ts';
import { readSigningKey, type SigningKey } from '../../audit/signing-key.ts';
import { auditSettings, sinksOf } from '../../audit/sinks.ts';
import { LONGEST_UNSIGNED_MS } from '../../audit/verify.ts';
import { AUDIT_REASONS } from '../../bot/views/texts/notices.ts';
import { auditFolder, auditKeySource, auditStateFile } from '../../settings.ts';
import type { AuditStore } from '../../store/port/audit.ts';
import { proxiedFetch, readProxy } from '../../tools/http/proxy.ts';
import type { CommandContext } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { type Finding, failed, firstLineOf, notChecked, ok, warning } from './finding.ts';
import { type LoadedManifest, toFinding } from './inspect-manifest.ts';

type Loaded = LoadedManifest | undefined;

/** Checks that the audit log is signed and exported. */
export async function checkAudit(context: CommandContext, loaded: Loaded): Promise<Finding[]> {
  return [
    await checkKey(context),
    await checkExport(context, loaded),
    ...(loaded === undefined ? [] : await checkSinks(loaded, context.environment)),
  ];
}

async function checkKey(context: CommandContext): Promise<Finding> {
  const check = 'audit key';
  const { environment } = context;
  const source = auditKeySource(environment);
  if (source === undefined)
    return warning(check, 'the audit log is not signed', {
      fix: 'make a key (countersign audit key) and set AUDIT_KEY_FILE in .env',
    });
  try {
    const key = await readSigningKey(source);
    return (
      (await checkMemory(environment)) ??
      (await checkSigned(context, key)) ??
      ok(check, `checkpoints are signed with the key ${key.id}`)
    );
  } catch (error) {
    return failed(check, firstLineOf(error));
  }
}

/** Checks that the signer can remember what it signed; without that it signs nothing, or any log that Redis shows it after a restart. */
async function checkMemory(environment: NodeJS.ProcessEnv): Promise<Finding | undefined> {
  const check = 'audit key';
  const file = auditStateFile(environment);
  if (file === undefined)
    return warning(check, 'the signer forgets what it signed when the bot ends', {
      fix: 'set AUDIT_STATE_FILE to a file that the bot can write',
    });
  // The file is replaced in one step, so its folder has to be writable.
  if (!(await isWritable(dirname(file))))
    return failed(check, `${dirname(file)} cannot be written, so the signer cannot remember what it signed`, {
      fix: 'create it, give the bot access, or set AUDIT_STATE_FILE',
    });
  await readSignerState(file);
  return undefined;
}

/** Checks that the log can be signed on, by the rules of the signer; it signs and remembers nothing. */
async function checkSigned(context: CommandContext, key: SigningKey): Promise<Finding | undefined> {
  const { environment } = context;
  const { REDIS_URL: url = '' } = environment;
  if (url === '') return undefined;
  const file = auditStateFile(environment);
  const state = (file === undefined ? undefined : await readSignerState(file)) ?? {};
  const memory = { read: async () => state, write: async () => {} };
  const log = { info() {}, warn() {} };
  const refusal = await withRecord(context, ({ store }) =>
    new Signer({ store, key, memory, log, unsignedAfterMs: LONGEST_UNSIGNED_MS }).inspect(),
  );
  if (refusal === undefined) return undefined;
  const { code, checkpoint } = refusal;
  const trusted = checkpoint > 0 ? `; checkpoint ${checkpoint} is the last one to trust` : '';
  return failed('audit key', `the audit log is not signed: ${AUDIT_REASONS[code]}${trusted}`, {
    fix: FIXES[code] ?? 'keep the exported log, and run countersign audit verify',
  });
}

const FIXES: Readonly<Record<string, string>> = {
  'unsigned-rows': 'start the bot with this key if none runs; otherwise look for "not signed" in its log',
  'older-copy':
    'if you restored a backup, stop the bots, run countersign audit verify --against with the exported log, and do what docs/operate.md says',
};

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function checkExport(context: CommandContext, loaded: Loaded): Promise<Finding> {
  const check = 'audit export';
  if (loaded === undefined) return notChecked(check, 'there is no manifest to take the sinks from');
  const sinks = sinksOf(
    auditSettings(loaded.manifest.audit, auditFolder(context.environment, loaded.folder)),
  );
  if (sinks.length === 0)
    return warning(check, 'the audit log is in Redis only', {
      fix: 'set audit.file or audit.http in the manifest',
    });
  const { REDIS_URL: url = '' } = context.environment;
  if (url === '') return notChecked(check, 'REDIS_URL is not set');
  try {
    return await withRecord(context, async ({ store }) => {
      const progress = await exportIn(store).readProgress();
      const { head, checkpoint } = await store.auditEnds();
      const at = checkpoint && parseCheckpoint(checkpoint.text)?.at;
      const lacking = sinks.map(({ name }) => ({ name, seq: progress.get(name)?.seq ?? 0 }));
      const behind = lacking.map(({ name, seq }) => `${name} lacks ${head.seq - seq} rows`);
      const signed = at === undefined ? 'no checkpoint yet' : `last checkpoint at ${timeOf(at)}`;
      const message = `${behind.join(', ')}; ${signed}`;
      const oldest = await Promise.all(lacking.map(({ seq }) => firstAfter(store, seq)));
      const waitingMs = Date.now() - Math.min(Date.now(), ...oldest.flatMap((time) => time ?? []));
      if (waitingMs < EXPORT_LATE_MS) return ok(check, message);
      const minutes = Math.floor(waitingMs / MINUTE_MS);
      return failed(check, `${message}; the oldest of them has waited for ${minutes} minutes`, {
        fix: 'start the bot if none runs; otherwise look for "audit export failed" in its log',
      });
    });
  } catch (error) {
    return failed(check, firstLineOf(error));
  }
}

const MINUTE_MS = 60_000;
/** A bot exports every ten seconds. */
const EXPORT_LATE_MS = 5 * MINUTE_MS;

/** Returns the time of the first row after a number. */
async function firstAfter(store: Pick<AuditStore, 'exportAudit'>, seq: number): Promise<number | undefined> {
  for await (const { at } of store.exportAudit(seq)) return at;
  return undefined;
}

const SINK_TIMEOUT_MS = 5_000;

/** Checks that the file can be written and that the HTTP endpoint answers; nothing is sent to it. */
async function checkSinks(loaded: LoadedManifest, environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const { file, http } = auditSettings(loaded.manifest.audit, auditFolder(environment, loaded.folder));
  const report = (pointer: string, message: string, fix: string): Finding =>
    toFinding('audit export', { pointer, severity: 'error', message, fix }, loaded);
  const findings: Finding[] = [];
  if (file !== undefined) {
    // A file that is not there yet is made in its folder.
    const target = existsSync(file) ? file : dirname(file);
    if (!(await isWritable(target)))
      findings.push(
        report('/audit/file', `${target} cannot be written`, 'create it, or give the bot access'),
      );
  }
  if (http !== undefined) {
    const problem = await proxiedFetch(readProxy(environment))(http.url, {
      method: 'HEAD',
      headers: http.headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(SINK_TIMEOUT_MS),
    }).then(
      ({ status }) => (status === 401 || status === 403 ? `refuses with status ${status}` : undefined),
      () => 'does not answer',
    );
    if (problem !== undefined)
      findings.push(
        report('/audit/http/url', `${new URL(http.url).host} ${problem}`, 'check its address and headers'),
      );
  }
  return findings;
}
