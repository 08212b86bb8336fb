import { expect, onTestFinished, test } from 'vitest';
import { changeKey, type PolicyChange } from '../../../src/tools/manifest/govern.ts';
import { Secrets } from '../../../src/tools/secrets.ts';
import { openToolbox } from '../../../src/tools/toolbox/open-toolbox.ts';
import { changesInWords, POLICY_CHANGE_TOOL } from '../../../src/tools/toolbox/policy-change.ts';
import { runOnce } from '../gate/support.ts';
import { DEFAULT_POLICY, held } from '../manifest/support.ts';
import { APPROVED, actionIn, ROOT } from './support.ts';

const CHANGE: PolicyChange = { from: 'one', to: 'two', diff: '- policies.default.quorum: 2' };

async function openGoverned() {
  const approved: PolicyChange[] = [];
  const { manifest } = held(
    `agent: { policy_changes: { approvers: [U0ALICE001, U0BRUNO002], quorum: 2, channel: C0POLICIES } }
${DEFAULT_POLICY}`,
  );
  const toolbox = await openToolbox(manifest, {
    folder: ROOT,
    secrets: new Secrets(),
    log: { info: () => {}, warn: () => {} },
    approveChange: async (change) => {
      approved.push(change);
      return change.from === 'one' ? 'approved' : 'changed';
    },
  });
  onTestFinished(() => toolbox.close());
  const call = (change: PolicyChange, idempotencyKey: string, resumed = false) =>
    runOnce(
      actionIn(toolbox, POLICY_CHANGE_TOOL),
      { ...change },
      {
        context: { requester: 'manifest.yml', channel: 'C0POLICIES', threadId: 'C0POLICIES' },
        idempotencyKey,
        ...(resumed && { resumed: { ...APPROVED } }),
      },
    );
  return { toolbox, approved, call };
}

test('a change of the policies always needs approval, and no model is offered it', async () => {
  const { toolbox, approved, call } = await openGoverned();
  expect(await call(CHANGE, changeKey(CHANGE))).toMatchObject({
    interrupt: { metadata: { approval: { policy: 'policy changes' } } },
  });
  expect(toolbox.policy('policy changes')).toMatchObject({ quorum: 2, risk: 'high' });
  const offered = toolbox.toolsFor({ channel: 'C0POLICIES', requester: 'U0ALICE001' });
  expect(offered.map(({ name }) => name)).not.toContain(POLICY_CHANGE_TOOL);
  expect(approved).toEqual([]);
});

test('it is recorded once approved; not if its lines were edited, or another manifest is active by then', async () => {
  const { approved, call } = await openGoverned();
  expect(await call(CHANGE, changeKey(CHANGE), true)).toMatchObject({ status: 'ok' });
  expect(approved).toEqual([CHANGE]);
  const edited = { ...CHANGE, diff: '- tools.pay.max_output: 2' };
  expect(await call(edited, changeKey(CHANGE), true)).toMatchObject({ status: 'error' });
  expect(approved).toEqual([CHANGE]);
  const late = { ...CHANGE, from: 'zero' };
  expect(await call(late, changeKey(late), true)).toMatchObject({ status: 'error' });
});

test('a change is said in words, one line for each value', () => {
  const diff = [
    '- policies.default.quorum: 2',
    '- policies.default.approvers: [U0ALICE001]',
    '+ policies.default.quorum: 1',
    '+ policies.default.approvers: [U0ALICE001, S0FINANCE1]',
    '- tools.pay.approval[0].when: "input.amount > 100"',
    '- tools.pay.approval[0].policy: default',
    '+ tools."pay: all".timeout: 30s',
    '- agent.policy_changes.channel: C0POLICIES',
    '- tools.buy.effect: none',
    '+ tools.buy.effect: none',
  ].join('\n');
  expect(changesInWords(diff).split('\n')).toEqual([
    '• Policy default, quorum: 2 → 1',
    '• Policy default, approvers: [U0ALICE001] → [U0ALICE001, S0FINANCE1]',
    '• Removed: Tool pay, approval 1 when: "input.amount > 100"',
    '• Removed: Tool pay, approval 1 policy: default',
    '• Added: Tool "pay: all", timeout: 30s',
    '• Removed: Agent, policy changes channel: C0POLICIES',
    '• Moved: Tool buy, effect: none',
  ]);
});

test('its card names people and groups, and leaves the digests to the full view', async () => {
  const { toolbox } = await openGoverned();
  const presentation = toolbox.find(POLICY_CHANGE_TOOL)?.presentation;
  const change = { ...CHANGE, diff: '+ policies.default.approvers: [U0ALICE001, S0FINANCE1]' };
  expect(presentation?.peopleIn(change)).toEqual(['U0ALICE001', 'S0FINANCE1']);
  const names = new Map([
    ['U0ALICE001', 'Alice'],
    ['S0FINANCE1', '@finance'],
  ]);
  expect(presentation?.present(change, names)).toMatchObject({
    fields: [
      {
        label: 'Changes',
        text: '• Added: Policy default, approvers: [Alice (U0ALICE001), @finance (S0FINANCE1)]',
      },
    ],
    isComplete: true,
  });
});
