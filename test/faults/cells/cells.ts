import { CALLER_CELLS } from './callers.ts';
import type { Cell } from './cell.ts';
import { CROWD_CELLS } from './crowds.ts';
import { DELIVERY_CELLS } from './deliveries.ts';
import { FAILPOINT_CELLS } from './failpoints.ts';
import { LOAD_CELLS } from './load.ts';
import { MODEL_CELLS } from './model-faults.ts';
import { PASSKEY_CELLS } from './passkeys.ts';
import { PLAN_CELLS } from './plans.ts';
import { POLICY_CELLS } from './policies.ts';
import { REDIS_CELLS } from './redis-faults.ts';
import { SLACK_CELLS } from './slack-faults.ts';
import { TIME_CELLS } from './time-faults.ts';
import { UNSIGNED_CELLS } from './unsigned.ts';

/** The faults of the services that the bot depends on. */
export const SERVICE_CELLS: readonly Cell[] = [...REDIS_CELLS, ...SLACK_CELLS, ...MODEL_CELLS];

/** The whole matrix, in the order of its table. */
export const CELLS: readonly Cell[] = [
  ...FAILPOINT_CELLS,
  ...DELIVERY_CELLS,
  ...CROWD_CELLS,
  ...SERVICE_CELLS,
  ...TIME_CELLS,
  ...UNSIGNED_CELLS,
  ...POLICY_CELLS,
  ...PLAN_CELLS,
  ...CALLER_CELLS,
  ...PASSKEY_CELLS,
  ...LOAD_CELLS,
];
