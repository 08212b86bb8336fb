import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nonEmpty } from '../support/non-empty.ts';
import { startCalling } from './calling.ts';
import { action, runAction, startGithub, trustingGithub } from './github.ts';
import { linesOf, temporaryFolder } from './shell.ts';
import { CAST } from './support.ts';

test('no input is part of the script, and every input reaches it', () => {
  const [{ env, run }] = action.runs.steps;
  expect(run).not.toContain('${{');
  const passed = Object.values(env).map((value) => /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(value)?.[1]);
  expect(passed.toSorted()).toEqual(Object.keys(action.inputs).toSorted());
  for (const name of nonEmpty(Object.keys(env)))
    expect(`${run} COUNTERSIGN_URL COUNTERSIGN_AUDIENCE`).toContain(name);
});

test('a job proves who it is with its own tokens, waits for people, and runs the command once', async () => {
  const github = await startGithub();
  const door = await startCalling({ manifest: trustingGithub(github) });
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'plan 1.bin'), 'the plan');
  const ended = runAction(github, {
    cwd,
    environment: { GITHUB_RUN_ID: '77', GITHUB_RUN_ATTEMPT: '2' },
    inputs: {
      url: `http://127.0.0.1:${door.bot().port}`,
      policy: 'release',
      command: 'echo "$HOME $(wc -c < "plan 1.bin")" >> ran',
      files: 'plan 1.bin\n',
      title: '--json',
      why: 'It\'s "due"; $(touch hacked)',
    },
  });
  const card = JSON.stringify((await door.place.shows(/Approval needed/)).blocks);
  expect(card).toContain('run 77 attempt 2');
  expect(card).toContain('plan 1.bin');
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await ended).toBe(0);
  expect(linesOf(join(cwd, 'ran'))).toEqual(['/nowhere 8']);
  expect(linesOf(join(cwd, 'hacked'))).toEqual([]);
  expect(linesOf(join(cwd, 'npm-ran'))).toEqual([`ci --prefix ${join(cwd, 'countersign')}`]);
  // One for each change and each reading, never the same twice.
  expect(new Set(github.issued)).toEqual(new Set(['Bearer job-token countersign']));
  await door.place.shows(/release-pipeline ran “/);
});
