import { execSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT, readDockerfile, Words } from './files.ts';

test("the image's steps, run in a clean folder, give a bot that starts and names what it needs", () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-image-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const build = join(folder, 'build');
  const app = join(folder, 'app');
  for (const each of [build, app]) mkdirSync(each);
  const instructions = readDockerfile('deploy/Dockerfile');
  const last = instructions.at(-1)?.stage ?? 0;

  const copy = (value: string, from: string, to: string): void => {
    const words = value.split(/\s+/);
    const target = words.pop() ?? '';
    for (const path of words) {
      const into = target.endsWith('/') ? join(target, path.split('/').at(-1) ?? '') : target;
      cpSync(join(from, path), join(to, into), { recursive: true });
    }
  };
  for (const { stage, name, value } of instructions) {
    if (stage === 0 && name === 'COPY') copy(value, ROOT, build);
    // The packages are those of this repository, which came from the same lock file.
    if (stage === 0 && name === 'RUN' && value.startsWith('npm ci'))
      symlinkSync(join(ROOT, 'node_modules'), join(build, 'node_modules'));
    else if (stage === 0 && name === 'RUN') execSync(value, { cwd: build, stdio: 'pipe' });
    if (stage !== last || name !== 'COPY') continue;
    if (value.startsWith('--from=build')) cpSync(join(build, 'dist'), join(app, 'dist'), { recursive: true });
    else if (!value.startsWith('--from=')) copy(value, ROOT, app);
  }

  expect(existsSync(join(app, 'dist/lua/lib/prelude.lua'))).toBe(true);
  const [program = '', ...args] = Words.parse(JSON.parse(instructions.at(-1)?.value ?? ''));
  // Without node_modules: the bundle has all that a start needs.
  const { status, stderr } = spawnSync(program, args, {
    cwd: app,
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
  });
  expect(stderr).toContain('SLACK_BOT_TOKEN is not set');
  expect(status).toBe(1);
}, 180_000);
