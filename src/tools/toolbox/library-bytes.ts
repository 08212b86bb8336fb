import { z } from 'zod';
import { canonicalJson, toJson, tryParseJson } from '../../agent/json.ts';

const Names = z.record(z.string(), z.string()).default({});
const Entry = z.looseObject({
  dependencies: Names,
  devDependencies: Names,
  optionalDependencies: Names,
  peerDependencies: Names,
});
type Entry = z.infer<typeof Entry>;
const NpmLock = z.object({ packages: z.record(z.string(), Entry) });

const OURS = 'countersign';
/** A literal of an import, an export or a `require` that names a package. */
const PACKAGE = /(?:from|import|require)[\s(]*['"`]((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^'"`\n]*)?['"`]/g;

/**
 * Returns what stands for the libraries of a module: the lock file. Where npm has installed Countersign beside them, only what the folder and
 * the module's files need without it, so that its next release voids no approval.
 */
export function libraryBytes(lock: Buffer, files: readonly Buffer[]): Buffer {
  const { data } = NpmLock.safeParse(tryParseJson(lock.toString('utf8')));
  const root = data?.packages[''];
  if (data === undefined || root === undefined || !needs(root).includes(OURS)) return lock;
  const imported = files.flatMap((bytes) =>
    [...bytes.toString('utf8').matchAll(PACKAGE)].map(([, name = '']) => name),
  );
  const reached = new Map<string, Entry>();
  const visit = (from: string, name: string): void => {
    const path = placeOf(data.packages, from, name);
    const entry = path === undefined ? undefined : data.packages[path];
    if (path === undefined || entry === undefined || reached.has(path)) return;
    reached.set(path, entry);
    for (const needed of needs(entry)) visit(path, needed);
  };
  for (const name of [...needs(root), ...imported]) if (name !== OURS) visit('', name);
  return Buffer.from(canonicalJson(toJson(Object.fromEntries(reached))));
}

function needs(entry: Entry): readonly string[] {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = entry;
  return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies });
}

/** Finds the package that a name means for one in a place: its own, or that of a folder above. */
function placeOf(
  packages: Readonly<Record<string, unknown>>,
  from: string,
  name: string,
): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
    const path = place === '' ? `node_modules/${name}` : `${place}/node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (place === '') return undefined;
  }
}
