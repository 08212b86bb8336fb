import type { Rule } from './rule.ts';
import { askAgain } from './rules/ask-again.ts';
import { callByName } from './rules/call-by-name.ts';
import { checkAllOrders } from './rules/check-all-orders.ts';
import { deleteCustomer } from './rules/delete-customer.ts';
import { deployService } from './rules/deploy-service.ts';
import { lookUpOrder } from './rules/look-up-order.ts';
import { publishStatus } from './rules/publish-status.ts';
import { readFile } from './rules/read-file.ts';
import { refundOrder } from './rules/refund-order.ts';
import { reportIncident } from './rules/report-incident.ts';
import { waitForReport } from './rules/wait-for-report.ts';
import { writeFile } from './rules/write-file.ts';

/** All rules in the order in which they are tried; the first match is used. */
export const RULES: readonly Rule[] = [
  askAgain,
  callByName,
  publishStatus,
  deleteCustomer,
  deployService,
  reportIncident,
  waitForReport,
  checkAllOrders,
  writeFile,
  readFile,
  refundOrder,
  lookUpOrder,
];

/** The rules to list as examples, easiest first. */
export const EXAMPLE_RULES: readonly Rule[] = [
  lookUpOrder,
  refundOrder,
  deleteCustomer,
  publishStatus,
  deployService,
  reportIncident,
  waitForReport,
  checkAllOrders,
  readFile,
  writeFile,
];
