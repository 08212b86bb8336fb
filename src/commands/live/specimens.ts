import { OUTCOME_UNKNOWN } from '../../agent/calls/journal.ts';
import type { JsonObject, JsonValue } from '../../agent/json.ts';
import { toPauseMetadata } from '../../agent/pause.ts';
import { compileJsonSchema } from '../../agent/schema/json-schema.ts';
import { ASK_KINDS } from '../../bot/views/asks/ask-kinds.ts';
import { DID_NOT_RUN, RAN, RUN_AGAIN } from '../../bot/views/cards/action-ids.ts';
import { buildCard } from '../../bot/views/cards/build-card.ts';
import type { CardOptions } from '../../bot/views/cards/card.ts';
import { cardDetailsOf } from '../../bot/views/cards/card-details.ts';
import { buildEndedCopy } from '../../bot/views/cards/outcome.ts';
import { buildHome, type HomeExtras } from '../../bot/views/home/build-home.ts';
import {
  buildAnswerModal,
  buildApproveModal,
  buildChooseModal,
  buildCommentModal,
  buildGrantModal,
  buildRejectModal,
  buildResolveModal,
  buildUrlModal,
} from '../../bot/views/modals/decision-modals.ts';
import { buildDetailsModal } from '../../bot/views/modals/details-modal.ts';
import { buildEditModal, buildOutputModal } from '../../bot/views/modals/form-modal.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import { type RequestKind, RequestState } from '../../store/port/request-record.ts';
import { builtIns, PROPOSE_PLAN } from '../../tools/built-ins.ts';
import { elicitationOf, SERVER_PAUSE } from '../../tools/mcp/server-pause.ts';
import { withAsk } from '../../tools/pause.ts';

/** A payload that Slack is asked about: of what it is, and whether it is a message or a view. */
export interface Specimen {
  readonly name: string;
  readonly part: 'message' | 'view';
  readonly payload: object;
}

/** The people and the thread that specimens name; Slack need not know them. */
export interface Cast {
  readonly person: string;
  readonly channel: string;
}

const HOUR_MS = 3_600_000;
const SHOWN_AT = Date.UTC(2026, 0, 5, 9);
const INPUT = { order: 'A-1001', amount: 12_500, reason: 'Arrived broken & late, see <photo>' };

/** Builds a specimen of every card in every state and place, of every modal, and of Home. */
export function specimens(cast: Cast): Specimen[] {
  const cards = ASK_KINDS.flatMap(({ name }) =>
    RequestState.options.flatMap((state) => cardSpecimens(name, requestOf(name, state, cast))),
  );
  const all = [...cards, ...modalSpecimens(cast), ...homeSpecimens(cast)];
  // Many states look the same in several places.
  const seen = new Set<string>();
  return all.filter(({ payload }) => {
    const text = JSON.stringify(payload);
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}

const VIEWS: readonly CardOptions['view'][] = ['thread', 'announcement', 'direct'];

function cardSpecimens(kind: string, request: RequestRecord): Specimen[] {
  const options = { threadLink: 'https://example.slack.com/archives/C1/p1' };
  return [
    ...VIEWS.map((view) => ({
      name: `card of ${kind}, ${request.state}, ${view}`,
      part: 'message' as const,
      payload: buildCard(request, { view, ...options }),
    })),
    {
      name: `ended copy of ${kind}, ${request.state}`,
      part: 'message',
      payload: buildEndedCopy(request, { view: 'direct', ...options }),
    },
    {
      name: `details of ${kind}, ${request.state}`,
      part: 'view',
      payload: buildDetailsModal(request, { page: 0 }),
    },
  ];
}

function modalSpecimens(cast: Cast): Specimen[] {
  const pending = (kind: string) => requestOf(kind, 'pending', cast);
  const approval = pending('approval');
  const schema = compileJsonSchema(FORM);
  const link = pending('elicitation');
  const details = cardDetailsOf(link);
  const pause = details === undefined ? undefined : elicitationOf(details.interrupt);
  const built = {
    Approve: buildApproveModal(approval),
    'Approve with a comment': buildCommentModal(approval),
    'Allow the same again': buildGrantModal(approval),
    Reject: buildRejectModal(approval),
    'Choose steps': buildChooseModal(pending('plan')),
    Answer: buildAnswerModal(pending('question')),
    'What happened': buildResolveModal(requestOf('outcome', 'unknown', cast), RAN),
    'Did not run': buildResolveModal(requestOf('outcome', 'unknown', cast), DID_NOT_RUN),
    'Run again': buildResolveModal(requestOf('outcome', 'unknown', cast), RUN_AGAIN),
    Edit: viewOf(buildEditModal(approval, schema)),
    Form: viewOf(buildOutputModal(pending('form'), schema)),
    'Open a link': pause === undefined ? undefined : buildUrlModal(link, pause),
  };
  return Object.entries(built).flatMap(([name, payload]) =>
    typeof payload === 'object' ? [{ name: `modal ${name}`, part: 'view' as const, payload }] : [],
  );
}

function viewOf(built: ReturnType<typeof buildEditModal>): object | undefined {
  return built.ok ? built.view : undefined;
}

function homeSpecimens(cast: Cast): Specimen[] {
  const page = (name: 'waiting' | 'asked' | 'decided', requests: readonly RequestRecord[]) => ({
    name,
    requests,
    next: undefined,
    isFirst: true,
    total: String(requests.length),
  });
  const all = ASK_KINDS.map(({ name }) => requestOf(name, 'pending', cast));
  const ended = RequestState.options.map((state) => requestOf('approval', state, cast));
  const extras: HomeExtras = {
    asOf: SHOWN_AT,
    stats: [
      {
        policy: 'default',
        requests: 3,
        approved: 2,
        rejected: 1,
        expired: 0,
        approvalRate: 0.66,
        medianSeconds: 90,
      },
    ],
    toolProblems: ['open_ticket: the module was not found'],
    freezes: [
      { scope: 'open_ticket', id: 'f1', at: SHOWN_AT, who: cast.person, reason: 'an incident', votes: [] },
    ],
    accounts: [{ server: { name: 'tickets', url: 'https://tickets.example/mcp' }, isConnected: false }],
    delegations: {
      reader: cast.person,
      list: [
        {
          id: 'd1',
          from: cast.person,
          to: cast.person,
          reason: 'on leave',
          startedAt: SHOWN_AT,
          until: SHOWN_AT + HOUR_MS,
        },
      ],
    },
    unfreeze: { quorum: 1, isOffered: true },
  };
  const empty = [page('waiting', []), page('asked', []), page('decided', [])];
  const full = [
    page('waiting', all.slice(0, 5)),
    page('asked', all.slice(5)),
    page('decided', ended.slice(0, 5)),
  ];
  return [
    { name: 'Home, empty', part: 'view', payload: buildHome(empty, { asOf: SHOWN_AT }) },
    { name: 'Home, full', part: 'view', payload: buildHome(full, extras) },
  ];
}

const FORM: JsonObject = {
  type: 'object',
  properties: {
    order: { type: 'string', title: 'Order' },
    amount: { type: 'integer', title: 'Amount' },
    reason: { type: 'string', title: 'Reason' },
    when: { type: 'string', format: 'date' },
    urgent: { type: 'boolean' },
    kind: { type: 'string', enum: ['damaged', 'late', 'other'] },
  },
  required: ['order'],
};

/** The reason for which the specimen of each kind pauses. A kind that is not named here is asked about as an approval is. */
const CALLS: Readonly<Record<string, { tool: string; input: JsonValue; metadata?: JsonObject }>> = {
  question: {
    tool: 'ask_question',
    input: {
      question: 'Which order do you mean?',
      choices: ['A-1001', 'A-1002'],
      allowOther: true,
      several: false,
    },
  },
  form: { tool: 'request_form', input: { title: 'Report an incident', fields: FORM } },
  callback: { tool: 'wait_for_callback', input: { purpose: 'The build has ended' } },
  plan: { tool: PROPOSE_PLAN, input: { goal: 'Refund both orders' } },
  outcome: { tool: 'refund_order', input: INPUT, metadata: { [OUTCOME_UNKNOWN]: 'the server answered 504' } },
  consent: {
    tool: 'refund_order',
    input: INPUT,
    metadata: { consent: { server: 'tickets', host: 'tickets.example', person: 'U0SOMEBODY' } },
  },
  elicitation: { tool: 'refund_order', input: INPUT, metadata: { [SERVER_PAUSE]: elicitation() } },
};

function elicitation(): JsonObject {
  const question = {
    mode: 'url',
    message: 'Confirm the refund at the bank.',
    url: 'https://bank.example/?a=1&b=2',
  };
  return {
    kind: 'elicitation',
    server: 'bank',
    definition: 'd1',
    question,
    call: { protocol: 'current', open: [{ key: 'k1', question }], answered: [], responses: {} },
  };
}

function metadataOf(tool: string, input: JsonValue, given: JsonObject = {}): JsonObject {
  const builtIn = builtIns.find(({ name }) => name === tool);
  if (builtIn?.kind !== 'interrupt') return given;
  const own = builtIn.requestMetadata?.(input);
  const words = own instanceof Promise ? undefined : own;
  return withAsk(toPauseMetadata(words, builtIn) ?? {}, { tool: builtIn, input, answerers: () => 'anyone' });
}

const PRESENTED = {
  title: 'Refund order A-1001',
  done: 'Refunded order A-1001',
  target: 'A-1001',
  fields: [
    { label: 'Order', text: 'A-1001', argument: 'order' },
    { label: 'Amount', text: '125.00 EUR', argument: 'amount' },
    { label: 'Reason', text: INPUT.reason, argument: 'reason' },
  ],
  hasTitle: true,
  isComplete: true,
};

const FACETS: JsonObject = {
  grants: { forMs: HOUR_MS, uses: 3, scope: 'thread' },
};

function planFacet(): JsonObject {
  const step = (number: number) => ({
    id: `s${number}`,
    number,
    tool: 'refund_order',
    presented: PRESENTED,
    input: INPUT,
    alone: false,
    facets: {},
  });
  return { plan: { goal: 'Refund both orders', steps: [step(1), step(2)] } };
}

const KINDS: Readonly<Record<string, RequestKind>> = {
  question: 'question',
  form: 'form',
  consent: 'form',
  elicitation: 'form',
  callback: 'callback',
};
const WAITING: readonly RequestState[] = ['pending', 'approved', 'started', 'unknown'];

/** Builds an approval in a state. */
export function specimen(state: RequestState, cast: Cast): RequestRecord {
  return requestOf('approval', state, cast);
}

/** Builds a request of a kind in a state. */
function requestOf(kind: string, state: RequestState, { person, channel }: Cast): RequestRecord {
  const { tool, input, metadata } = CALLS[kind] ?? { tool: 'refund_order', input: INPUT };
  const isDecided = state !== 'pending';
  const isSettled = !WAITING.includes(state);
  const step = (number: number) => ({
    id: `s${number}`,
    number,
    digest: 'd1',
    alone: false,
    isChosen: true,
    state: state === 'pending' ? ('pending' as const) : ('succeeded' as const),
  });
  return {
    id: `${channel}:1700000000.000100~specimen`,
    threadId: `${channel}:1700000000.000100`,
    state,
    revision: 1,
    kind: KINDS[kind] ?? 'approval',
    requester: person,
    requesters: [person],
    barred: [],
    digest: 'd1',
    details: {
      interrupt: {
        id: 'specimen',
        toolRequest: { name: tool, ref: 'c1', input },
        metadata: metadataOf(tool, input, metadata),
      },
      idempotencyKey: 'k1',
      presented: PRESENTED,
      policy: { name: 'default', risk: kind === 'approval' ? 'high' : 'medium', own: false },
      facets: kind === 'plan' ? planFacet() : FACETS,
    },
    policy: {
      principals: [person],
      resolvers: [person],
      quorum: 2,
      vetoes: 1,
      selfApproval: false,
      expiresInMs: HOUR_MS,
    },
    execution: { idempotent: false, maxAttempts: 1, retryForMs: 0 },
    principals: [person],
    createdAt: SHOWN_AT,
    expiresAt: SHOWN_AT + HOUR_MS,
    decidedAt: isDecided ? SHOWN_AT + 1_000 : undefined,
    settledAt: isSettled ? SHOWN_AT + 2_000 : undefined,
    by: isDecided ? person : undefined,
    payload: isSettled ? JSON.stringify('Not the right order') : undefined,
    approvals: isDecided ? 1 : 0,
    rejections: state === 'rejected' ? 1 : 0,
    granted: false,
    votes: isDecided
      ? [{ who: person, decision: 'approve', at: SHOWN_AT + 1_000, reason: 'Looks right' }]
      : [],
    attempts: isDecided ? 1 : 0,
    attempt: undefined,
    progress: state === 'started' ? 'Half done' : undefined,
    views: [],
    undo: undefined,
    trace: undefined,
    ...(kind === 'plan' && { steps: [step(1), step(2)] }),
  };
}
