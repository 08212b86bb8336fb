import { existsSync, readFileSync } from 'node:fs';

const ENV_FILE = '.env';
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
