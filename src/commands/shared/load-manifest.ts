import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type ManifestSource, type ParsedManifest, parseManifest } from '../../tools/manifest/parse.ts';
import { formatProblem } from '../../tools/manifest/problem.ts';
import { Failure } from './command.ts';

const DEFAULT_FILE = 'manifest.yml';

/** Returns the path of the manifest: the one named, else that of `MANIFEST`, else `manifest.yml`. */
export function manifestFile(environment: NodeJS.ProcessEnv, named?: string): string {
  const [file = DEFAULT_FILE] = [named, environment.MANIFEST].filter(
    (given) => given !== undefined && given !== '',
  );
  return file;
}

/** Reads and checks a manifest. A file that cannot be read is a `Failure`; mistakes in it are a result. */
export async function readManifest(
  file: string,
  environment: NodeJS.ProcessEnv,
  options: Pick<ManifestSource, 'withoutSecrets'> = {},
): Promise<ParsedManifest> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    throw new Failure(
      code === 'ENOENT'
        ? `there is no ${file}; name the file, set MANIFEST in .env to its path, or make one with "countersign init"`
        : `${file} cannot be read (${String(code ?? error)})`,
    );
  });
  return parseManifest(text, { file, environment, ...options });
}

/** Reads a manifest that must be valid; its mistakes are the message of the `Failure`. */
export async function requireManifest(
  file: string,
  environment: NodeJS.ProcessEnv,
  options: Pick<ManifestSource, 'withoutSecrets'> = {},
) {
  const parsed = await readManifest(file, environment, options);
  if (!parsed.ok)
    throw new Failure(`the manifest has errors\n${parsed.problems.map(formatProblem).join('\n')}`);
  return { ...parsed, file, folder: dirname(resolve(file)) };
}
