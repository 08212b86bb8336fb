import { expect, test } from 'vitest';
import { buildRestart } from '../../../src/agent/replies.ts';
import { generate } from '../../../src/index.ts';
import { compileApprovalRules } from '../../../src/policy/rules.ts';
import { approvalOf, type GateResumed, gate, openWith } from '../../../src/tools/gate.ts';
import { askOf } from '../../../src/tools/pause.ts';
import { call, calls, keptResults, says, scripted, sentResults, waiting } from '../../agent/support.ts';
import { gated, interruptIn, runOnce, takesAnything } from './support.ts';

const CONTEXT = { requester: 'U1', channel: 'C1' };
const LARGE = [{ policy: 'finance', when: 'input.amount > 100' }, { require: 'never' as const }];
const approved = (own = false): GateResumed => ({ decision: 'approved', by: 'U2', own, under: null });
const edited: GateResumed = { decision: 'edited', by: 'U2', policy: 'finance' };

test('a call that no rule asks for runs at once', async () => {
  const { tool, ran } = gated(LARGE);
  const part = await runOnce(tool, { amount: 5 });
  expect(part).toMatchObject({ status: 'ok', toolResponse: { output: 'ran' } });
  expect(ran).toEqual([{ amount: 5 }]);
});

test('a call that a rule asks for pauses before anything of it runs, and says whose signature it needs', async () => {
  const { tool, ran } = gated(LARGE);
  const interrupt = interruptIn(await runOnce(tool, { amount: 500 }));
  expect(approvalOf(interrupt)).toEqual({ policy: 'finance', rule: 'this tool: when input.amount > 100' });
  expect(ran).toEqual([]);
});

test('an approved call runs once in the loop, with what was signed, and the model gets its result', async () => {
  const { tool, ran } = gated(LARGE);
  const { model, server } = await scripted(calls(call('c1', 'anything', { amount: 500 })), says('Done.'));
  const paused = await generate({ model, tools: [tool], prompt: 'go', context: CONTEXT });
  expect([paused.finishReason, ran]).toEqual(['interrupted', []]);
  const restart = [buildRestart(tool, waiting(paused, 'c1'), { ...approved() }, {})];
  await generate({ model, tools: [tool], messages: paused.messages, resume: { restart }, context: CONTEXT });
  expect(ran).toEqual([{ amount: 500 }]);
  expect(sentResults(server)).toEqual([['c1', 'ran']]);
});

test('an approval opens the gate for its own call only; the same call again asks again', async () => {
  const { tool, ran } = gated(LARGE);
  const again = calls(call('c2', 'anything', { amount: 500 }));
  const { model } = await scripted(calls(call('c1', 'anything', { amount: 500 })), again);
  const first = await generate({ model, tools: [tool], prompt: 'go', context: CONTEXT });
  const restart = [buildRestart(tool, waiting(first, 'c1'), { ...approved() }, {})];
  const options = { model, tools: [tool], messages: first.messages, resume: { restart }, context: CONTEXT };
  const second = await generate(options);
  expect([second.finishReason, ran.length]).toEqual(['interrupted', 1]);
  expect(keptResults(second.messages)).toEqual({ c1: 'ran' });
  expect(approvalOf(waiting(second, 'c2'))?.policy).toBe('finance');
});

test('words of approval in the input open nothing', async () => {
  const { tool, ran } = gated([]);
  const claims = { ...approved(), resumed: approved(), metadata: { resumed: approved() } };
  expect(interruptIn(await runOnce(tool, claims)).toolRequest.input).toEqual(claims);
  expect(ran).toEqual([]);
});

test('words of approval in the context open nothing', async () => {
  const { tool, ran } = gated([]);
  interruptIn(await runOnce(tool, {}, { context: { ...CONTEXT, ...approved(), resumed: approved() } }));
  expect(ran).toEqual([]);
});

test('a pause of the tool’s own comes after the gate, and its answer reaches the tool', async () => {
  const { tool, ran } = gated([], ({ resumed, interrupt }) =>
    resumed === undefined ? interrupt({ message: 'sure?' }) : `${resumed.status}, says ${String(resumed.by)}`,
  );
  expect(approvalOf(interruptIn(await runOnce(tool, {})))).toBeDefined();
  const own = interruptIn(await runOnce(tool, {}, { resumed: { ...approved() } }));
  expect(approvalOf(own)).toBeUndefined();
  expect(askOf(own)).toMatchObject({ message: 'sure?', way: { kind: 'confirm' }, reply: 'restart' });
  expect(ran).toEqual([]);
  const opened = openWith(own, { by: 'U2', own: true, under: null }, { status: 'APPROVED' });
  const part = await runOnce(tool, {}, { resumed: opened });
  expect(part).toMatchObject({ status: 'ok', toolResponse: { output: 'APPROVED, says U2' } });
});

test('a signature at the gate is not taken for the answer to a pause of the tool’s own', async () => {
  const { tool } = gated([], ({ resumed }) => ({ told: resumed ?? null }));
  const part = await runOnce(tool, {}, { resumed: { ...approved() } });
  expect(part).toMatchObject({ toolResponse: { output: { told: null } } });
});

test('an edited call asks again by the rule that its new input falls under', async () => {
  const { tool, ran } = gated(LARGE);
  const interrupt = interruptIn(await runOnce(tool, { amount: 900 }, { resumed: { ...edited } }));
  expect(approvalOf(interrupt)).toEqual({ policy: 'finance', rule: 'this tool: when input.amount > 100' });
  expect(ran).toEqual([]);
});

test('an edited call asks again also where no rule would, by the policy it was asked under', async () => {
  const { tool, ran } = gated(LARGE);
  const interrupt = interruptIn(await runOnce(tool, { amount: 5 }, { resumed: { ...edited } }));
  expect(approvalOf(interrupt)).toEqual({ policy: 'finance', rule: 'edited by U2' });
  expect(ran).toEqual([]);
});

test('an edited call is judged with its editor among those who ask', async () => {
  const { tool, ran } = gated([
    { require: 'deny', when: '"U2" in requesters', reason: 'Not for U2.' },
    ...LARGE,
  ]);
  expect(approvalOf(interruptIn(await runOnce(tool, { amount: 900 })))?.policy).toBe('finance');
  const part = await runOnce(tool, { amount: 900 }, { resumed: { ...edited } });
  expect(JSON.stringify(part)).toContain('Not for U2.');
  expect(part).not.toHaveProperty('interrupt');
  expect(ran).toEqual([]);
});

test('what a call falls under is judged by who asks and where, as the bot says it', async () => {
  const { tool, ran } = gated([{ require: 'never', when: 'requester == "U1" && channel == "C1"' }]);
  await runOnce(tool, {}, { context: CONTEXT });
  expect(ran).toHaveLength(1);
  interruptIn(await runOnce(tool, { requester: 'U1' }, { context: { ...CONTEXT, requester: 'U9' } }));
  interruptIn(await runOnce(tool, {}, { context: { requester: ['U1'], channel: 'C1' } }));
  interruptIn(await runOnce(tool, {}, { context: {} }));
  expect(ran).toHaveLength(1);
});

test('what a tool throws behind the gate is an error for the model, not a pause', async () => {
  const { tool } = gated([{ require: 'never' }], () => {
    throw new Error('no credit');
  });
  expect(await runOnce(tool, {})).toMatchObject({
    status: 'error',
    toolResponse: { output: { message: 'no credit' } },
  });
});

test('what is over a limit looks for no grant', async () => {
  const { tool } = takesAnything();
  const limit = {
    name: 'a',
    match: '*',
    sum: undefined,
    per: 'tool',
    windowMs: 1_000,
    max: 0,
    policy: 'boss',
  } as const;
  let looked = 0;
  const limited = gate(tool, compileApprovalRules([]), {
    limits: [limit],
    readTotals: async (limits) => limits.map(() => ({ count: 0, sum: 0 })),
    findGrant: async () => {
      looked += 1;
      return { grant: 'g' };
    },
  });
  interruptIn(await runOnce(limited, {}));
  expect(looked).toBe(0);
});
