import { posix } from 'node:path';
import { isIn } from './forms.ts';

export interface Import {
  /** A path from the root for a file of ours, and the specifier as it stands for a package. */
  readonly target: string;
  readonly isOwn: boolean;
  readonly isTypeOnly: boolean;
  /** Whether it is loaded only when the code gets there. */
  readonly isLate: boolean;
}

export interface SourceFile {
  readonly path: string;
  readonly imports: readonly Import[];
}

const STATEMENT =
  /^[ \t]*(?:import|export)\s+(type\s+(?!from\b))?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+(?:\s*,\s*(?:\{[^}]*\}|\*\s+as\s+\w+))?)\s*from\s*['"]([^'"]+)['"]/gm;
const BARE = /^[ \t]*import\s*['"]([^'"]+)['"]/gm;
const DYNAMIC = /\b(?:import|require)\(\s*['"]([^'"]+)['"]/g;

/** Finds the modules that a file names. Formatted code begins a statement on its own line, so no parser is needed. */
export function readImports(path: string, text: string): Import[] {
  const build = (specifier = '', { isTypeOnly = false, isLate = false } = {}): Import =>
    specifier.startsWith('.')
      ? { target: posix.join(posix.dirname(path), specifier), isOwn: true, isTypeOnly, isLate }
      : { target: specifier, isOwn: false, isTypeOnly, isLate };
  return [
    ...[...text.matchAll(STATEMENT)].map(([, type, specifier]) =>
      build(specifier, { isTypeOnly: type !== undefined }),
    ),
    ...[...text.matchAll(BARE)].map(([, specifier]) => build(specifier)),
    ...[...text.matchAll(DYNAMIC)].map(([, specifier]) => build(specifier, { isLate: true })),
  ];
}

/** Names every import of one of our files that the first rule for its place does not list. */
export function checkFolders(
  files: readonly SourceFile[],
  folders: readonly { readonly folder: string; readonly mayImport: readonly string[] }[],
): string[] {
  return files.flatMap(({ path, imports }) => {
    const allowed = folders.find(({ folder }) => path.startsWith(folder))?.mayImport ?? [];
    return imports
      .filter(({ isOwn, target }) => isOwn && !isIn(allowed, target))
      .map(({ target }) => `${path} may not import ${target}`);
  });
}

/** Names every import of a package outside its own place; `@scope/*` stands for all packages of a scope. */
export function checkPackages(
  files: readonly SourceFile[],
  packages: readonly { readonly name: string; readonly onlyIn: readonly string[] }[],
): string[] {
  return files.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => packages.some(({ name, onlyIn }) => isOf(name, target) && !isIn(onlyIn, path)))
      .map(({ target }) => `${path} may not import ${target}`),
  );
}

/** Names each circle of imports once; a type is gone when the code runs, so it closes none unless `types` is set. */
export function findCycles(
  files: readonly SourceFile[],
  { types = false }: { readonly types?: boolean } = {},
): string[] {
  const edges = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ isTypeOnly }) => types || !isTypeOnly).map(({ target }) => target),
    ]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.push([...trail.slice(start), path].join(' -> '));
    if (start !== -1 || done.has(path)) return;
    for (const target of edges.get(path) ?? []) walk(target, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) walk(path, []);
  return cycles;
}

/** Lists our files that are loaded at once with a file. */
export function filesLoadedWith(start: string, files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const loaded = new Set([start]);
  for (const path of loaded)
    for (const { target, isOwn, isTypeOnly, isLate } of byPath.get(path)?.imports ?? [])
      if (isOwn && !isTypeOnly && !isLate) loaded.add(target);
  return [...loaded];
}

/** Lists the packages that are loaded at once with a file, each with the file that brings it. */
export function packagesLoadedWith(start: string, files: readonly SourceFile[]): Map<string, string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const loaded = new Map<string, string>();
  for (const path of filesLoadedWith(start, files))
    for (const { target, isOwn, isTypeOnly, isLate } of byPath.get(path)?.imports ?? [])
      if (!isOwn && !isTypeOnly && !isLate) loaded.set(target, path);
  return loaded;
}

/** Tells whether an import is of a package, or of a scope, itself or a part of it. */
export function isOf(name: string, target: string): boolean {
  return name.endsWith('/*')
    ? target.startsWith(name.slice(0, -1))
    : target === name || target.startsWith(`${name}/`);
}
