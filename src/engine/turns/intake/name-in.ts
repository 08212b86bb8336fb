import type { Directory } from '../../ports.ts';

/** Returns the name of a person; their id if nobody can tell it now. */
export function nameIn(directory: Pick<Directory, 'member'>, who: string): Promise<string> {
  return directory.member(who).then(
    ({ name }) => name,
    () => who,
  );
}
