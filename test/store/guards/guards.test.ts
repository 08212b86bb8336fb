import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadScripts, type Scripts } from '../../../src/store/redis/scripts.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';
import { decisionScenarios } from './decisions.ts';
import { delegationScenarios } from './delegations.ts';
import { documentScenarios } from './documents.ts';
import { effectScenarios } from './effects.ts';
import { exportScenarios } from './export.ts';
import { freezeScenarios } from './freezes.ts';
import { grantScenarios } from './grants.ts';
import { findGuards, scriptsWithout } from './guard-lines.ts';
import { limitScenarios } from './limits.ts';
import { passkeyScenarios } from './passkeys.ts';
import { planScenarios } from './plans.ts';
import { runScenarios } from './runs.ts';
import { openStage, type Scenario, type Scenarios } from './stage.ts';
import { summaryScenarios } from './summaries.ts';
import { threadScenarios } from './threads.ts';
import { timeScenarios } from './time.ts';
import { undoScenarios } from './undo.ts';

const scenarios: Scenarios = {
  ...threadScenarios,
  ...effectScenarios,
  ...decisionScenarios,
  ...runScenarios,
  ...planScenarios,
  ...timeScenarios,
  ...undoScenarios,
  ...exportScenarios,
  ...documentScenarios,
  ...freezeScenarios,
  ...limitScenarios,
  ...grantScenarios,
  ...delegationScenarios,
  ...passkeyScenarios,
  ...summaryScenarios,
};
const scripts = loadScripts();

let redis: TestRedis;
let stages = 0;
beforeAll(() => {
  redis = connectTestRedis();
});
afterAll(() => redis.close());

/** Every scenario has a record of its own. */
function play(scenario: Scenario, changed: Scripts): Promise<void> {
  stages += 1;
  return scenario(openStage(redis.client, `${redis.prefix}${stages}:`, changed));
}

test(`each of the ${findGuards().length} guards in the scripts has one scenario, and every scenario has its guard`, () => {
  expect(Object.keys(scenarios).sort()).toEqual(findGuards());
});

describe('a scenario passes with its guard and fails without it', () => {
  test.each(Object.entries(scenarios))('%s', async (guard, scenario) => {
    await play(scenario, scripts);
    await expect(play(scenario, scriptsWithout(guard))).rejects.toThrow();
  });
});
