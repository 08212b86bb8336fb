import { existsSync } from 'node:fs';

/** The folder of the package, which is further up from the source than from the bundle. */
export const PACKAGE_FILES = findPackage();

function findPackage(): URL {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', folder)) && folder.pathname !== '/')
    folder = new URL('..', folder);
  return folder;
}
