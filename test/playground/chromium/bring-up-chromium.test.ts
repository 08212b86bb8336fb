import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { bringUpChromium } from '../../../playground/chromium/bring-up-chromium.ts';
import type { Machine } from '../../../playground/install/machine.ts';
import { machineOf, messageOf, temporaryFolder, writeScript } from '../install/stand-ins.ts';

const A_VERSION = 'echo "Chromium 151.0.7922.71 built on a bench"';
const SNAP_STUB = `echo "requires the chromium snap to be installed" >&2; exit 1`;

function packageManager(folder: string, name: string, browser: string, body = A_VERSION): () => string[] {
  const calls = join(folder, 'calls');
  const path = join(folder, browser);
  writeScript(
    folder,
    name,
    `echo "$*" >> '${calls}'
    case "$*" in *install*)
      /bin/mkdir -p '${dirname(path)}'
      printf '%s\\n' '#!/bin/sh' '${body}' > '${path}'
      /bin/chmod 755 '${path}';;
    esac`,
  );
  return () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []);
}

test('CHROMIUM takes precedence over the PATH', async () => {
  const folder = temporaryFolder();
  writeScript(folder, 'chromium', A_VERSION);
  const own = writeScript(folder, 'my-browser', A_VERSION);
  expect(await bringUpChromium({ env: { PATH: folder, CHROMIUM: own } })).toBe(own);
  expect(await bringUpChromium({ env: { PATH: folder, CHROMIUM: '' } })).toBe(join(folder, 'chromium'));
});

test('a CHROMIUM that is no browser is an error with its output', async () => {
  const folder = temporaryFolder();
  const noBrowser = writeScript(folder, 'no-browser', 'echo "I am a teapot"');
  const message = await messageOf(bringUpChromium({ env: { PATH: folder, CHROMIUM: noBrowser } }));
  expect(message).toMatch(/^CHROMIUM names .*no-browser, .*; correct CHROMIUM or unset it\. It printed:/);
  expect(message).toContain('I am a teapot');
  const missing = join(folder, 'nothing-here');
  expect(await messageOf(bringUpChromium({ env: { CHROMIUM: missing } }))).toContain('ENOENT');
});

test('Chromium goes before Chrome, and each of its names is known', async () => {
  const folder = temporaryFolder();
  for (const name of ['google-chrome-stable', 'google-chrome', 'chromium-browser', 'chromium']) {
    const path = writeScript(folder, name, A_VERSION);
    expect(await bringUpChromium({ env: { PATH: folder } })).toBe(path);
  }
});

test('a browser that does not run is passed over', async () => {
  const folder = temporaryFolder();
  writeScript(folder, 'chromium-browser', SNAP_STUB);
  const chrome = writeScript(folder, 'google-chrome', A_VERSION);
  expect(await bringUpChromium({ env: { PATH: folder } })).toBe(chrome);
});

test('macOS applications are found, those of the user too', async () => {
  const folder = temporaryFolder();
  const application = join(folder, 'Applications/Google Chrome.app/Contents/MacOS');
  mkdirSync(application, { recursive: true });
  const chrome = writeScript(application, 'Google Chrome', A_VERSION);
  const env = { PATH: folder, HOME: folder };
  const darwin = machineOf(folder, '', { platform: 'darwin', userId: 501 });
  expect(await bringUpChromium({ env, machine: darwin })).toBe(chrome);
  const linux = machineOf(folder, 'ID=unheard-of\n');
  expect(await messageOf(bringUpChromium({ env, machine: linux }))).toContain('No Chromium was found');
});

test('root on Debian gets the package from apt-get, announced in one line', async () => {
  const folder = temporaryFolder();
  const calls = packageManager(folder, 'apt-get', 'chromium');
  const lines: string[] = [];
  const path = await bringUpChromium({
    env: { PATH: folder },
    machine: machineOf(folder, 'ID=debian\n'),
    log: (line) => lines.push(`${line} [${calls().length} calls so far]`),
  });
  expect(path).toBe(join(folder, 'chromium'));
  expect(lines).toEqual([
    'No Chromium found: installing one with apt-get (apt-get install chromium). [0 calls so far]',
  ]);
  expect(calls()).toEqual([
    '-o DPkg::Lock::Timeout=120 update',
    '-o DPkg::Lock::Timeout=120 install --yes --no-install-recommends chromium',
  ]);
});

test('macOS with Homebrew gets Chrome as an application', async () => {
  const folder = temporaryFolder();
  const chrome = 'Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
  const calls = packageManager(folder, 'brew', chrome);
  const machine = machineOf(folder, '', { platform: 'darwin', userId: 501 });
  const path = await bringUpChromium({ env: { PATH: folder, HOME: folder }, machine });
  expect(path).toBe(join(folder, chrome));
  expect(calls()).toEqual(['install --cask google-chrome']);
});

test('an installation that fails is an error with the last lines of the installer', async () => {
  const folder = temporaryFolder();
  writeScript(folder, 'apt-get', "echo 'E: Unable to locate package chromium' >&2; exit 100");
  const machine = machineOf(folder, 'ID=debian\n');
  const message = await messageOf(bringUpChromium({ env: { PATH: folder }, machine }));
  expect(message).toMatch(/^Chromium could not be installed; set CHROMIUM to the path of a Chromium/);
  expect(message).toContain('E: Unable to locate package chromium');
});

test('an installed browser that does not run is an error with its output', async () => {
  const folder = temporaryFolder();
  packageManager(folder, 'apt-get', 'chromium', 'echo "libnss3.so.3.98.0 is missing"; exit 127');
  const machine = machineOf(folder, 'ID=debian\n');
  const message = await messageOf(bringUpChromium({ env: { PATH: folder }, machine }));
  expect(message).toMatch(/^Chromium was installed, but none that runs is on the PATH/);
  expect(message).toContain('libnss3.so.3.98.0 is missing');
});

test("on Ubuntu the snap's stub is not installed, and the error explains why", async () => {
  const folder = temporaryFolder();
  const calls = packageManager(folder, 'apt-get', 'chromium');
  writeScript(folder, 'chromium-browser', SNAP_STUB);
  const machine = machineOf(folder, 'ID=ubuntu\nID_LIKE=debian\n');
  const message = await messageOf(bringUpChromium({ env: { PATH: folder }, machine }));
  expect(message).toContain("Ubuntu's own package is only a stub for the snap");
  expect(message).toContain('sudo snap install chromium');
  expect(message).toContain(`${join(folder, 'chromium-browser')} is installed but does not run`);
  expect(message).toContain('requires the chromium snap to be installed');
  expect(calls()).toEqual([]);
});

test('a user who is not root installs nothing and gets the three options in one message', async () => {
  const folder = temporaryFolder();
  const calls = packageManager(folder, 'apt-get', 'chromium');
  const machine = machineOf(folder, 'ID=debian\n', { userId: 1000 });
  const message = await messageOf(bringUpChromium({ env: { PATH: folder }, machine }));
  expect(message).toContain('set CHROMIUM to the path of a Chromium or Chrome');
  expect(message).toContain('install one yourself: sudo apt-get install chromium');
  expect(message).toContain('run this as root on Debian, or with Homebrew on macOS');
  expect(message).not.toContain('Ubuntu');
  expect(calls()).toEqual([]);
});

test('the error names the install command of this system', async () => {
  const folder = temporaryFolder();
  const commandFor = async (osRelease: string, changes: Partial<Machine> = {}) => {
    const machine = machineOf(folder, osRelease, changes);
    const message = await messageOf(bringUpChromium({ env: { PATH: folder }, machine }));
    return /install one yourself: ([^;\n]*)/.exec(message)?.[1];
  };
  expect(await commandFor('ID=fedora\n')).toBe('sudo dnf install chromium');
  expect(await commandFor('ID=manjaro\nID_LIKE=arch\n')).toBe('sudo pacman -S chromium');
  expect(await commandFor('', { platform: 'darwin' })).toBe('brew install --cask google-chrome');
  expect(await commandFor('ID=unheard-of\n')).toBe("use your system's package manager");
});
