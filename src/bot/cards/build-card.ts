import type { RequestRecord } from '../../store/port.ts';
import { buildApprovalCard } from './approval-card.ts';
import type { Card } from './card.ts';
import { buildQuestionCard } from './question-card.ts';

/** Draws a request as it is now; a card has no memory of what it showed before. */
export function buildCard(request: RequestRecord): Card {
  return request.kind === 'approval' ? buildApprovalCard(request) : buildQuestionCard(request);
}
