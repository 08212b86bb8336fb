import { findInstaller, installPackage, type PackageSpec } from '../install/install-package.ts';
import { distributionFamily, installCommand, type Machine, thisMachine } from '../install/machine.ts';
import { type FoundChromium, findChromium, versionProblem } from './find-chromium.ts';

const CHROMIUM: PackageSpec = {
  program: 'Chromium',
  missing: 'Chromium',
  debianPackage: 'chromium',
  // Homebrew's own chromium is not signed, and macOS refuses to open it.
  brewArguments: ['--cask', 'google-chrome'],
  instead: 'set CHROMIUM to the path of a Chromium or Chrome, or install one yourself',
};

const INSTALL_COMMANDS = {
  darwin: 'brew install --cask google-chrome',
  debian: 'sudo apt-get install chromium',
  ubuntu: 'sudo snap install chromium',
  linuxmint: 'sudo apt-get install chromium',
  fedora: 'sudo dnf install chromium',
  rhel: 'sudo dnf install epel-release && sudo dnf install chromium',
  alpine: 'sudo apk add chromium',
  arch: 'sudo pacman -S chromium',
  suse: 'sudo zypper install chromium',
};

/** Options for finding a browser: `env` alone decides about CHROMIUM and the PATH, `machine` about what may be installed. */
export type BringUpChromiumOptions = {
  log?: (line: string) => void;
  env?: NodeJS.ProcessEnv;
  machine?: Machine;
};

/** Returns the path of a Chromium or Chrome that has run: the one CHROMIUM names, one that is there, or one installed for this. */
export async function bringUpChromium(options: BringUpChromiumOptions): Promise<string> {
  const { log = () => {}, env = process.env, machine = thisMachine() } = options;
  const named = env.CHROMIUM;
  // An empty line CHROMIUM= in an environment file means "not set".
  if (named !== undefined && named !== '') return checkNamed(named, env);
  const present = await findChromium(machine, env);
  if (present.kind === 'found') return present.path;
  const installer = isSnapOnly(machine) ? undefined : findInstaller(CHROMIUM, machine, env);
  if (installer === undefined) throw new Error(installHelp(machine, present));
  await installPackage(CHROMIUM, installer, log);
  const installed = await findChromium(machine, env);
  if (installed.kind === 'found') return installed.path;
  throw new Error(
    [
      'Chromium was installed, but none that runs is on the PATH: set CHROMIUM to its path.',
      ...brokenLines(installed),
    ].join('\n'),
  );
}

async function checkNamed(path: string, env: NodeJS.ProcessEnv): Promise<string> {
  const problem = await versionProblem(path, env);
  if (problem === undefined) return path;
  throw new Error(
    `CHROMIUM names ${path}, which did not print a browser version; correct CHROMIUM or unset it. It printed:\n${problem}`,
  );
}

// Ubuntu's chromium-browser is a stub for a snap, which a container cannot run.
function isSnapOnly(machine: Machine): boolean {
  return distributionFamily(machine).includes('ubuntu');
}

function installHelp(machine: Machine, found: FoundChromium): string {
  const stub = "; Ubuntu's own package is only a stub for the snap, so it is not installed for you";
  return [
    'No Chromium was found and none may be installed from here; do one of these three:',
    '  - set CHROMIUM to the path of a Chromium or Chrome, for example /usr/bin/google-chrome',
    `  - install one yourself: ${installCommand(INSTALL_COMMANDS, machine)}${isSnapOnly(machine) ? stub : ''}`,
    '  - run this as root on Debian, or with Homebrew on macOS, so that it can be installed for you',
    ...brokenLines(found),
  ].join('\n');
}

function brokenLines(found: FoundChromium): string[] {
  if (found.kind === 'found') return [];
  return found.broken.map(({ path, output }) => `${path} is installed but does not run:\n${output}`);
}
