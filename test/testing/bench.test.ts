import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type BenchOptions, openBench } from '../../src/testing.ts';
import { newFolder, writeManifest } from '../commands/support.ts';
import { writeModule } from '../tools/toolbox/support.ts';

const POLICIES = 'policies: { default: { approvers: [U0ALICE002, U0BRUNO003] } }\n';

async function bench(options: BenchOptions) {
  const opened = await openBench(options);
  onTestFinished(() => opened.close());
  return opened;
}

/** The tools of a manifest whose module has the tool "press". */
async function pressing(rule: string) {
  const folder = newFolder();
  writeModule(folder, 'press.ts', 'press', 'return { pressed: true };');
  const manifest = writeManifest(
    `${POLICIES}tools: { press: { module: ${join(folder, 'press.ts')}, ${rule} } }\n`,
  );
  return bench({ manifest });
}

const seeds = () => bench({ manifest: 'examples/seeds/manifest.yml' });

test('a call that needs approval shows its card, and runs when it is approved', async () => {
  const asked = await (await pressing('approval: default')).call('press', {});
  expect(asked).toMatchObject({ state: 'asks', output: undefined });
  expect(asked.card).toBe('Press?\nbecause: this tool: always\napprovals: 1 of U0ALICE002, U0BRUNO003');
  expect(await asked.approve()).toMatchObject({ state: 'ran', output: { pressed: true } });
});

test('a call that is rejected does not run, and says why', async () => {
  const asked = await (await pressing('approval: default')).call('press', {});
  const rejected = await asked.reject('Not today');
  expect(rejected).toMatchObject({ state: 'refused', output: 'Rejected: Not today' });
  await expect(rejected.approve()).rejects.toThrow('this call waits for nobody: it is "refused"');
});

test('a call without approval runs at once, and one that a rule denies never does', async () => {
  const free = await pressing('approval: never');
  expect(await free.call('press', {})).toMatchObject({ state: 'ran', card: undefined });
  const denied = await pressing('approval: deny');
  expect((await denied.call('press', {})).state).toBe('refused');
});

test('a tool that asks gets the choice of a person', async () => {
  const opened = await seeds();
  const asked = await opened.call('pick_room', { question: 'Which room?', choices: ['Red', 'Blue'] });
  expect(asked).toMatchObject({ state: 'asks', card: 'Which room?\n- Red\n- Blue' });
  const { state, output } = await asked.answer('Blue');
  expect(state).toBe('ran');
  expect(JSON.stringify(output)).toContain('Blue');
});

test('what is wrong is one error that says what there is', async () => {
  const opened = await seeds();
  await expect(opened.call('pick_rom', {})).rejects.toThrow(
    /there is no tool "pick_rom"; there are: .*pick_room/,
  );
  expect(await opened.call('pick_room', { question: 5 })).toMatchObject({ state: 'failed' });
  await expect(bench({ manifest: writeManifest('polices: {}\n') })).rejects.toThrow(/unknown key "polices"/);
});
