import type { Scene } from './scene.ts';
import { askAgain } from './scenes/ask-again.ts';
import { checkAllOrders } from './scenes/check-all-orders.ts';
import { deleteCustomer } from './scenes/delete-customer.ts';
import { deployService } from './scenes/deploy-service.ts';
import { lookUpOrder } from './scenes/look-up-order.ts';
import { publishStatus } from './scenes/publish-status.ts';
import { readFile } from './scenes/read-file.ts';
import { refundOrder } from './scenes/refund-order.ts';
import { reportIncident } from './scenes/report-incident.ts';
import { waitForReport } from './scenes/wait-for-report.ts';
import { writeFile } from './scenes/write-file.ts';

/** Every scene, in the order in which they are tried: the first that takes the words plays. */
export const SCENES: readonly Scene[] = [
  askAgain,
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

/** Those that are worth a mention to somebody who does not know what to say, the easiest first. */
export const SHOWN_SCENES: readonly Scene[] = [
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
