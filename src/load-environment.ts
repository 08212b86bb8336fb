import { accessSync, constants, existsSync, readFileSync } from 'node:fs';

const ENV_FILE = '.env';
/** Where our systemd unit has its settings, and what the unit adds to them, as far as a command can read it; see deploy/countersign.service. */
export const UNIT = {
  file: '/etc/countersign/countersign.env',
  settings: {
    MANIFEST: '/etc/countersign/manifest.yml',
    AUDIT_KEY_FILE: '/etc/countersign/audit-key.pem',
    AUDIT_STATE_FILE: '/var/lib/countersign/audit.state',
    AUDIT_FOLDER: '/var/lib/countersign',
  },
} as const;
/** A longer file is no secret but something else. */
const MAX_SECRET_BYTES = 65_536;
/** Settings that are the name of a file by themselves. */
const FILE_SETTINGS: readonly string[] = ['AUDIT_KEY_FILE', 'AUDIT_STATE_FILE', 'SSL_CERT_FILE'];

/**
 * Returns the environment of the process with what `.env` in the working folder adds, and with the content of files for
 * secrets: NAME_FILE sets NAME. A variable that is set already stays as it is.
 */
export function loadEnvironment(): NodeJS.ProcessEnv {
  if (existsSync(ENV_FILE)) process.loadEnvFile(ENV_FILE);
  return withSecretFiles(process.env);
}

/**
 * Returns the environment of a command: that of the process with what a file adds. The file is the one that is named; else `.env` in the
 * working folder; else, on a machine with our systemd unit, the settings of the unit.
 */
export function loadCommandEnvironment(file?: string): NodeJS.ProcessEnv {
  if (file !== undefined) process.loadEnvFile(file);
  const isUnit = file === UNIT.file || (file === undefined && !existsSync(ENV_FILE) && isReadable(UNIT.file));
  if (!isUnit) return file === undefined ? loadEnvironment() : withSecretFiles(process.env);
  if (file === undefined) process.loadEnvFile(UNIT.file);
  return withSecretFiles({ ...UNIT.settings, ...process.env });
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Adds NAME for every NAME_FILE whose file can be read; one that cannot be read leaves NAME unset. */
export function withSecretFiles(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = Object.entries(environment).flatMap(([variable, file]): [string, string][] => {
    const name = variable.replace(/_FILE$/, '');
    if (name === variable || FILE_SETTINGS.includes(variable)) return [];
    if (file === undefined || file === '' || (environment[name] ?? '') !== '') return [];
    const text = readSecret(file);
    return text === undefined ? [] : [[name, text]];
  });
  return { ...environment, ...Object.fromEntries(read) };
}

function readSecret(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' || text.length > MAX_SECRET_BYTES ? undefined : text;
  } catch {
    return undefined;
  }
}
