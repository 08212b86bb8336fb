import { expect, onTestFinished, test } from 'vitest';
import { Secrets } from '../../../src/tools/secrets.ts';
import { openToolbox } from '../../../src/tools/toolbox/open-toolbox.ts';
import {
  changeName,
  POLICY_CHANGE_TOOL,
  type PolicyChange,
} from '../../../src/tools/toolbox/policy-change.ts';
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
  const call = (change: PolicyChange, name: string, resumed = false) =>
    runOnce(
      actionIn(toolbox, POLICY_CHANGE_TOOL),
      { ...change },
      {
        context: { requester: 'manifest.yml', channel: 'C0POLICIES', threadId: `C0POLICIES:${name}` },
        ...(resumed && { resumed: { ...APPROVED } }),
      },
    );
  return { toolbox, approved, call };
}

test('a change of the policies always needs approval, and no model is offered it', async () => {
  const { toolbox, approved, call } = await openGoverned();
  expect(await call(CHANGE, changeName(CHANGE))).toMatchObject({
    interrupt: { metadata: { approval: { policy: 'policy changes' } } },
  });
  expect(toolbox.policy('policy changes')).toMatchObject({ quorum: 2, risk: 'high' });
  const offered = toolbox.toolsFor({ channel: 'C0POLICIES', requester: 'U0ALICE001' });
  expect(offered.map(({ name }) => name)).not.toContain(POLICY_CHANGE_TOOL);
  expect(approved).toEqual([]);
});

test('it is recorded once approved; not if its lines were edited, or another manifest is active by then', async () => {
  const { approved, call } = await openGoverned();
  expect(await call(CHANGE, changeName(CHANGE), true)).toMatchObject({ status: 'ok' });
  expect(approved).toEqual([CHANGE]);
  const edited = { ...CHANGE, diff: '- tools.pay.max_output: 2' };
  expect(await call(edited, changeName(CHANGE), true)).toMatchObject({ status: 'error' });
  expect(approved).toEqual([CHANGE]);
  const late = { ...CHANGE, from: 'zero' };
  expect(await call(late, changeName(late), true)).toMatchObject({ status: 'error' });
});
