import { execSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { type Instruction, ROOT, readDockerfile, readText, Words } from './files.ts';

/** A container of the last stage: its root, its folder, its environment and its commands. */
export interface Image {
  readonly root: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

interface Stage {
  readonly root: string;
  readonly environment: Record<string, string>;
  folder: string;
  command: string[];
  healthCheck: string[];
}

const Lock = z.object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })) });

/** Runs every instruction of a Dockerfile below a folder, a root for each stage. An instruction that it does not know throws. */
export function playDockerfile(path: string, below: string): Image {
  const stages = new Map<string, Stage>();
  let stage = openStage(below, 'none');
  for (const [index, instruction] of readDockerfile(path).entries()) {
    if (instruction.name === 'FROM') {
      const [, , name = `stage-${index}`] = instruction.value.split(/\s+/);
      stage = openStage(below, name);
      stages.set(name, stage);
    } else play(instruction, stage, stages);
  }
  return { ...stage, folder: join(stage.root, stage.folder) };
}

function openStage(below: string, name: string): Stage {
  return { root: join(below, name), folder: '/', environment: {}, command: [], healthCheck: [] };
}

function play({ name, value }: Instruction, stage: Stage, stages: ReadonlyMap<string, Stage>): void {
  const here = join(stage.root, stage.folder);
  switch (name) {
    case 'WORKDIR':
      stage.folder = value;
      mkdirSync(join(stage.root, value), { recursive: true });
      return;
    case 'ENV': {
      const [key = '', set = ''] = value.split('=');
      stage.environment[key] = set;
      return;
    }
    case 'COPY':
      copy(value, here, stages);
      return;
    case 'RUN':
      runStep(value, here);
      return;
    case 'CMD':
      stage.command = Words.parse(JSON.parse(value));
      return;
    case 'HEALTHCHECK':
      stage.healthCheck = Words.parse(JSON.parse(value.slice(value.indexOf('CMD') + 'CMD'.length)));
      return;
    // The user and the port are the container's own affair; deploy.test.ts reads them.
    case 'USER':
    case 'EXPOSE':
      return;
    default:
      throw new Error(`The test cannot play ${name} ${value}`);
  }
}

/** Copies as Docker does: of a folder its contents, of files into a folder that ends with a slash. */
function copy(value: string, here: string, stages: ReadonlyMap<string, Stage>): void {
  const [, from, rest = ''] = /^(?:--from=(\S+)\s+)?(.*)$/.exec(value) ?? [];
  const source = from === undefined ? ROOT : stages.get(from)?.root;
  if (source === undefined) throw new Error(`There is no stage ${from}`);
  const paths = rest.split(/\s+/);
  const target = paths.pop() ?? '';
  if (paths.length > 1 && !target.endsWith('/')) throw new Error(`${target} must end with a slash: ${value}`);
  for (const path of paths) {
    const into = target.endsWith('/') ? join(here, target, basename(path)) : join(here, target);
    cpSync(join(source, path), into, { recursive: true });
  }
}

/** Runs a command as it is written. Only `npm ci` is replaced: the packages are those of this repository, which has the same lock file. */
function runStep(command: string, here: string): void {
  const [install = '', ...others] = command.split(' && ');
  if (!install.startsWith('npm ci ')) {
    if (/\s\//.test(command)) throw new Error(`The test would leave its folder: ${command}`);
    execSync(command, { cwd: here, stdio: 'pipe' });
    return;
  }
  for (const other of others)
    if (other !== 'npm cache clean --force') throw new Error(`The test cannot play ${other}`);
  const lock = join(here, 'package-lock.json');
  if (readFileSync(lock, 'utf8') !== readText('package-lock.json')) throw new Error(`${lock} is another one`);
  if (install.includes('--omit=dev')) copyPackages(here);
  else symlinkSync(join(ROOT, 'node_modules'), join(here, 'node_modules'));
}

/** Copies the packages that production needs, as far as they are for this machine. */
function copyPackages(here: string): void {
  const { packages } = Lock.parse(JSON.parse(readText('package-lock.json')));
  for (const [path, { dev = false }] of Object.entries(packages))
    if (path !== '' && !dev && existsSync(join(ROOT, path)))
      cpSync(join(ROOT, path), join(here, path), { recursive: true });
}
