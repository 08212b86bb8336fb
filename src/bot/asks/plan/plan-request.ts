import type { CallPart, Interrupt } from '../../../agent/messages.ts';
import { readAskedCall } from '../../../engine/asked-call.ts';
import { termsOf } from '../../../engine/asks/policy-snapshot.ts';
import { partsNow } from '../../../engine/bind-request.ts';
import { votedChoices } from '../../../engine/choices.ts';
import { classifyInterrupt } from '../../../engine/classify-interrupt.ts';
import type { AskedCall, PlanPart, RequestOrigin } from '../../../engine/facets/facet.ts';
import { auditedFacets, prepareFacets } from '../../../engine/facets/facets.ts';
import { PLAN_RULE, planDigest } from '../../../engine/plans.ts';
import { toDetails } from '../../../engine/request-details.ts';
import { NOBODY } from '../../../engine/task-people.ts';
import { requestIdOf } from '../../../store/port/keys.ts';
import type { NewRequest } from '../../../store/port/request-record.ts';
import type { Approval } from '../../../tools/gate.ts';
import { elicitationOf, waitsForTask } from '../../../tools/mcp/server-pause.ts';
import { digestedFields, digestOfParts } from '../../../tools/toolbox/request-digest.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { termsFor } from './approval-terms.ts';
import { facetPorts } from './facet-ports.ts';
import { placesFor } from './places.ts';
import { planAnswer } from './plan-answer.ts';
import type { PlanContext, Unaskable } from './plan-context.ts';
import { planElicitation } from './plan-elicitation.ts';
import { planUnknown } from './plan-unknown.ts';
import { presentAsked } from './present-call.ts';

const DAY_MS = 86_400_000;
/** A task ignores an answer that it has already, so that one may be sent again. */
const TASK_ANSWER = { idempotent: true, maxAttempts: 10, retryForMs: DAY_MS };

/** Plans the request of one waiting call. */
export async function planRequest(
  context: PlanContext,
  origin: RequestOrigin,
  call: CallPart,
  interrupt: Interrupt,
  part?: PlanPart,
): Promise<NewRequest | Unaskable> {
  const asked = readAskedCall(origin, {
    call,
    interrupt,
    entry: context.toolbox.find(interrupt.toolRequest.name),
  });
  const isUnknown = classifyInterrupt(interrupt).kind === 'unknown';
  if (isUnknown) return planUnknown(context, asked);
  const plan = await planKnown(context, asked, part);
  // A task runs on at its server, whether we can follow it or not.
  return 'unaskable' in plan && waitsForTask(interrupt) ? planUnknown(context, asked) : plan;
}

async function planKnown(
  context: PlanContext,
  asked: AskedCall,
  part: PlanPart | undefined,
): Promise<NewRequest | Unaskable> {
  const { interrupt, entry } = asked;
  if (entry === undefined) return { unaskable: noticeTexts.noTool(interrupt.toolRequest.name) };
  const call = { ...asked, entry };
  const pause = classifyInterrupt(interrupt);
  if (pause.kind === 'exit' || pause.kind === 'unknown') return { unaskable: noticeTexts.completedTwice };
  const question = elicitationOf(interrupt);
  if (question !== undefined) return planElicitation(context, call, question);
  if (pause.kind === 'approval') return planApproval(context, call, pause, part);
  if (pause.kind !== 'plan') return planAnswer(context, call);
  const planned = { policy: part?.policy ?? '', rule: PLAN_RULE, own: false };
  return planApproval(context, call, planned, part);
}

/** Plans the request of a call that people approve: its terms, then what each feature adds, then the digest over all of it. */
async function planApproval(
  context: PlanContext,
  call: AskedCall & { readonly entry: NonNullable<AskedCall['entry']> },
  pause: Approval & { readonly own: boolean },
  part: PlanPart | undefined,
): Promise<NewRequest | Unaskable> {
  const { toolbox } = context;
  const { interrupt, entry, origin } = call;
  const { threadId, requesters, contextAuthors } = origin;
  const found = await termsFor(context, call, pause, part);
  if ('unaskable' in found) return found;
  const { approval, barred } = found;
  const { policy, risk, confirm } = approval;
  const asked = { ...call, approval };
  const [presented, facets, places] = await Promise.all([
    presentAsked(context.directory, asked),
    prepareFacets(asked, facetPorts(context)),
    placesFor(context, asked.origin, found),
  ]);
  const terms = termsOf(places.policy);
  const bound = { entry, interrupt, presented, facets, terms, threadId, requesters, contextAuthors };
  const parts = partsNow(toolbox, { ...bound, policy: policy.name, barred });
  const digest = digestOfParts(parts);
  const steps = part?.plan?.steps;
  const isShown = steps !== undefined || votedChoices(interrupt).length > 0;
  const [requester = NOBODY] = requesters;
  return {
    id: requestIdOf(threadId, interrupt.id),
    kind: 'approval',
    requester,
    requesters,
    barred,
    labels: { tool: entry.tool.name, policy: policy.name },
    details: toDetails(call.call, interrupt, {
      presented,
      facets,
      terms,
      policy: { name: policy.name, risk, confirm, own: pause.own },
      ...(isShown && { shown: digest }),
    }),
    policy: places.policy,
    digest: steps === undefined ? digest : planDigest(digest, numbered(steps)),
    ...(steps !== undefined && { steps }),
    audit: {
      ...auditedFacets(asked, facets),
      ...(pause.because !== undefined && { because: pause.because }),
      ...digestedFields(parts),
    },
    execution: waitsForTask(interrupt) ? TASK_ANSWER : entry.execution,
    views: places.views,
  };
}

/** Numbers the steps of a plan. */
function numbered(steps: NonNullable<NewRequest['steps']>) {
  return steps.map(({ digest }, index) => ({ number: index + 1, digest }));
}
