import { readdir, readFile } from 'node:fs/promises';

/** The folder of the built browser part, as far from the source as from the bundle and the package. */
const BUILT = new URL('../page/web/dist/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

export interface PageFile {
  readonly type: string;
  readonly text: string;
}

/** Reads the files of the browser part once, by their path; without a build there are none. */
export async function readPageFiles(folder: URL = BUILT): Promise<ReadonlyMap<string, PageFile>> {
  const paths = await readdir(folder, { recursive: true }).catch(() => []);
  const files = await Promise.all(
    paths.flatMap((path) => {
      const type = TYPES[path.slice(path.lastIndexOf('.') + 1)];
      if (type === undefined) return [];
      const name = path.replaceAll('\\', '/');
      return [readFile(new URL(name, folder), 'utf8').then((text) => [name, { type, text }] as const)];
    }),
  );
  return new Map(files);
}
