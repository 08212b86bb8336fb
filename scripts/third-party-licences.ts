import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i;

/** Writes the licences of all packages that a bundle has code of, from the paths of the files that went into it. */
export function licencesOf(root: string, inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((path) => packageFolderOf(path) ?? []));
  const sections = [...folders].sort().map((folder) => sectionOf(join(root, folder)));
  return `This bundle contains code of ${sections.length} packages.\n\n${sections.join('\n')}`;
}

/** Finds the folder of the package that a file belongs to; `undefined` for a file of ours. */
function packageFolderOf(path: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
}

function sectionOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
  };
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => LICENCE_FILE.test(file)) : [];
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const title = `${name} ${version} (${license ?? 'see below'})`;
  return [`${'='.repeat(title.length)}`, title, `${'='.repeat(title.length)}`, ...texts, ''].join('\n');
}
